//! `countersign sanitise`: text in, clean text out, as the gateway would clean it. Findings with `-o json`.

use anyhow::anyhow;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use countersign_gateway::ProcessRandomness;
use countersign_inspect::Randomness;
use countersign_inspect::config::{Invisibles, Normalisation, SanitiseMode, Wrap};
use countersign_sanitise::{Attribution, Finding, Nonce, Sanitiser, Settings};
use serde::Serialize;

use crate::format::{Format, FormatOption};
use crate::report::{Failure, printable};
use crate::source::Source;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign sanitise page.txt
  curl -s https://example.com | countersign sanitise --mode full --server web --tool fetch
  countersign sanitise --mode detect -o json page.txt

Exit codes: 0 done, 1 the text must not be passed on, 2 bad usage or input.";

/// Clean a text of control tokens and hidden characters
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The text; '-' reads it from stdin
    #[arg(default_value = "-", value_name = "FILE")]
    text: Source,
    /// How far to go; chooses what the other options are unless they are given
    #[arg(long, value_parser = words(SanitiseMode::ALLOWED), default_value = "clean")]
    mode: String,
    /// The form in which text leaves
    #[arg(long, value_parser = words(Normalisation::ALLOWED))]
    normalisation: Option<String>,
    /// What happens to invisible and format characters
    #[arg(long, value_parser = words(Invisibles::ALLOWED))]
    invisibles: Option<String>,
    /// Whether to put the text between boundaries
    #[arg(long, value_parser = words(Wrap::ALLOWED))]
    wrap: Option<String>,
    /// The server to name in a boundary
    #[arg(long, value_name = "NAME", default_value = "")]
    server: String,
    /// The tool to name in a boundary
    #[arg(long, value_name = "NAME", default_value = "")]
    tool: String,
    #[command(flatten)]
    format: FormatOption,
}

fn words(allowed: &'static [&'static str]) -> ValueParser {
    PossibleValuesParser::new(allowed).map(|word| word).into()
}

/// The report as `-o json` prints it.
#[derive(Debug, Serialize)]
struct Report<'a> {
    text: &'a str,
    changed: bool,
    findings: Vec<Found<'a>>,
}

#[derive(Debug, Serialize)]
struct Found<'a> {
    class: &'a str,
    family: Option<&'a str>,
    rule: &'a str,
    severity: &'a str,
    action: &'a str,
    count: u64,
    offsets: &'a [usize],
    #[serde(skip_serializing_if = "Option::is_none")]
    decoded: Option<&'a str>,
}

impl<'a> From<&'a Finding> for Found<'a> {
    fn from(finding: &'a Finding) -> Self {
        Self {
            class: finding.class,
            family: finding.family.as_deref(),
            rule: &finding.rule,
            severity: finding.severity.as_str(),
            action: finding.action.as_str(),
            count: finding.count,
            offsets: &finding.offsets,
            decoded: finding.decoded.as_deref(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let sanitiser = Sanitiser::new(arguments.settings()?).map_err(Failure::usage)?;
    let bytes = arguments.text.read(console)?;
    let Ok(text) = std::str::from_utf8(&bytes) else {
        let name = printable(&arguments.text.name());
        let error = anyhow!("{name} is not UTF-8");
        return Err(Failure::usage(error).hint("convert it first, for example with iconv"));
    };
    let cleaned = sanitiser.clean(text);
    let mut findings = cleaned.findings;
    if cleaned.blocked {
        console.message("the text does not settle and must not be passed on\n");
        return Ok(Exit::No);
    }
    let (short, cut) = sanitiser.truncate(&cleaned.text);
    findings.extend(cut);
    let left = arguments.wrapped(&sanitiser, &short)?;
    let left = left.as_deref().unwrap_or(&short);
    match arguments.format.output {
        Format::Text => console.data(left.as_bytes())?,
        Format::Json => {
            let report = Report {
                text: left,
                changed: left != text,
                findings: findings.iter().map(Found::from).collect(),
            };
            let mut line = serde_json::to_vec(&report).map_err(anyhow::Error::from)?;
            line.push(b'\n');
            console.data(line)?;
        }
    }
    Ok(Exit::Ok)
}

impl Arguments {
    fn settings(&self) -> Result<Settings, Failure> {
        // The parser has seen that each word is one of the set.
        let mode = SanitiseMode::parse(&self.mode).map_err(Failure::usage)?;
        let mut settings = Settings::for_mode(mode);
        if let Some(word) = &self.normalisation {
            settings.normalisation = Normalisation::parse(word).map_err(Failure::usage)?;
        }
        if let Some(word) = &self.invisibles {
            settings.invisibles = Invisibles::parse(word).map_err(Failure::usage)?;
        }
        if let Some(word) = &self.wrap {
            settings.wrap = Wrap::parse(word).map_err(Failure::usage)?;
        }
        Ok(settings)
    }

    fn wrapped(&self, sanitiser: &Sanitiser, text: &str) -> Result<Option<String>, Failure> {
        if sanitiser.settings().wrap == Wrap::None {
            return Ok(None);
        }
        let from = Attribution {
            server: &self.server,
            tool: &self.tool,
        };
        let noise = ProcessRandomness.fresh();
        let noise = noise.ok_or_else(|| anyhow!("there is no randomness to make a boundary of"))?;
        let wrapped = sanitiser.wrap(text, &from, Nonce::new(noise));
        Ok(Some(wrapped.map_err(anyhow::Error::from)?))
    }
}
