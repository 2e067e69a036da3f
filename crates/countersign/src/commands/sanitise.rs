//! `countersign sanitise`: text in, clean text out, as the gateway would clean it. Findings with `-o json`.

use anyhow::anyhow;
use clap::Args;
use countersign_gateway::ProcessRandomness;
use countersign_inspect::Randomness;
use countersign_inspect::config::{Invisibles, Normalisation, SanitiseMode, Wrap};
use countersign_sanitise::{Attribution, Finding, Nonce, Sanitiser, Settings};
use serde::Serialize;

use super::value_parser::word;
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
    #[arg(long, value_parser = word(SanitiseMode::ALLOWED, SanitiseMode::parse), default_value = "clean")]
    mode: SanitiseMode,
    /// The form in which text leaves
    #[arg(long, value_parser = word(Normalisation::ALLOWED, Normalisation::parse))]
    normalisation: Option<Normalisation>,
    /// What happens to invisible and format characters
    #[arg(long, value_parser = word(Invisibles::ALLOWED, Invisibles::parse))]
    invisibles: Option<Invisibles>,
    /// Whether to put the text between boundaries
    #[arg(long, value_parser = word(Wrap::ALLOWED, Wrap::parse))]
    wrap: Option<Wrap>,
    /// The server to name in a boundary
    #[arg(long, value_name = "NAME", default_value = "")]
    server: String,
    /// The tool to name in a boundary
    #[arg(long, value_name = "NAME", default_value = "")]
    tool: String,
    #[command(flatten)]
    format: FormatOption,
}

/// The report as `-o json` prints it.
#[derive(Debug, Serialize)]
struct Report<'a> {
    text: &'a str,
    changed: bool,
    findings: Vec<PrintedFinding<'a>>,
}

#[derive(Debug, Serialize)]
struct PrintedFinding<'a> {
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

impl<'a> From<&'a Finding> for PrintedFinding<'a> {
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
    let sanitiser = Sanitiser::new(arguments.settings()).map_err(Failure::usage)?;
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
        Format::Json => console.json(&Report {
            text: left,
            changed: left != text,
            findings: findings.iter().map(PrintedFinding::from).collect(),
        })?,
    }
    Ok(Exit::Ok)
}

impl Arguments {
    fn settings(&self) -> Settings {
        let mut settings = Settings::for_mode(self.mode);
        settings.normalisation = self.normalisation.unwrap_or(settings.normalisation);
        settings.invisibles = self.invisibles.unwrap_or(settings.invisibles);
        settings.wrap = self.wrap.unwrap_or(settings.wrap);
        settings
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
