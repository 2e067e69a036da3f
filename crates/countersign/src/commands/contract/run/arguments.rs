//! What a run is asked for on the command line: the server, what may be called, how it is judged.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_probe::client::{Options, Site, Target};
use countersign_probe::contract::Settings;
use countersign_probe::plan::TestSubject;
use countersign_probe::policy::{Date, Validation};
use serde_json::Value;

use super::form::{Form, parse_report};
use crate::commands::contract::baseline::BaselineOptions;
use crate::commands::contract::reproduce::Reproducer;
use crate::report::Failure;

/// The largest file with one case.
const MAX_CASE_BYTES: u64 = 1024 * 1024;

/// A tool is waited for this many times as long as a call may take, to tell slow from dead.
const PATIENCE: f64 = 3.0;

const EXAMPLES: &str = "\
Examples:
  countersign contract run -- npx -y some-server
  countersign contract run --allow-tool 'write_*' -- ./files-server /tmp/scratch
  countersign contract run --strict --report junit=contract.xml --report sarif=contract.sarif URL
  countersign contract run --strict --baseline known.json --update-baseline -- ./server
  countersign contract run --value project=demo -- ./server
  countersign contract run --tool search --case '{\"query\": \"\"}' -- ./server

Tools that do not say they are harmless, or whose name sounds like a change, are not called unless
--allow-tool names them. Try it on a scratch instance: arguments are made up.

Exit codes: 0 the contract is kept, or lenient; 1 it is not, or no valid call had a result; 2 wrong
usage, or --tool names no tool; 3 the server cannot be reached; 5 refused: no tool may be called, or a baseline update in CI; 6 the baseline is stale;
70 a bug in countersign.";

/// Call the tools of a server and hold its answers to its declarations
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "countersign contract run [OPTIONS] <URL | --plan FILE | -- COMMAND [ARGS]...>"
)]
pub(crate) struct Arguments {
    /// The server's Streamable HTTP address
    #[arg(value_name = "URL", conflicts_with_all = ["plan", "command"])]
    url: Option<String>,
    /// Take the server and the validation from a plan file
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    plan: Option<PathBuf>,
    /// A header for the server, as 'Name: value'; a value may be ${env:NAME}
    #[arg(long, value_name = "HEADER")]
    header: Vec<String>,
    /// Fail on violations instead of only reporting them
    #[arg(long)]
    strict: bool,
    /// Let `format` count like any other keyword
    #[arg(long)]
    assert_formats: bool,
    /// The seed of the random passes
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Test only tools whose name matches; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(super) tool: Vec<String>,
    /// Call these tools although they may change something; may be repeated
    #[arg(long, value_name = "GLOB")]
    allow_tool: Vec<String>,
    /// A value that exists, for arguments of this name, as NAME=VALUE; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = value)]
    value: Vec<(String, Value)>,
    /// Test this many tools at most
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_tools: usize,
    /// Enumerated cases per tool, at most
    #[arg(long, value_name = "N", default_value_t = 60)]
    max_calls: usize,
    /// Random cases per tool and pass; 0 leaves the random passes out
    #[arg(long, value_name = "N", default_value_t = 12)]
    random: usize,
    /// How long one call may take, in seconds; a tool that is silent for three times as long is dead
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    timeout: f64,
    #[command(flatten)]
    pub(super) baseline: BaselineOptions,
    /// Run one case instead of the passes: arguments as JSON, or a file that holds them
    #[arg(long, value_name = "JSON|FILE", requires = "tool")]
    case: Option<String>,
    /// How to print
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        value_enum,
        default_value_t
    )]
    pub(super) output: Form,
    /// Write a report to a file as well, as FORMAT=FILE with a format of --output; may be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = parse_report)]
    pub(super) report: Vec<(Form, PathBuf)>,
    /// The server's command and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// A value is JSON, or else a text.
fn value(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((name.to_owned(), value))
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds")?;
    let allowed = (0.01..=3600.0).contains(&seconds);
    allowed
        .then_some(seconds)
        .ok_or_else(|| "expected 0.01 to 3600".to_owned())
}

impl Arguments {
    pub(super) fn subject(&self) -> Result<TestSubject, Failure> {
        if let Some(path) = &self.plan {
            return TestSubject::load(path).map_err(Failure::usage);
        }
        let target = if let Some(url) = &self.url {
            let site = Site::new(url, &self.headers()?).map_err(Failure::usage)?;
            Target::Http(site)
        } else if let Some((program, rest)) = self.command.split_first() {
            Target::command(program.clone(), rest.iter().cloned())
        } else {
            let error = anyhow!("there is no server to test");
            return Err(Failure::usage(error).hint("give a URL, --plan FILE, or -- COMMAND"));
        };
        Ok(TestSubject {
            target,
            options: Options::default(),
            validation: Validation::default(),
        })
    }

    fn headers(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut headers = BTreeMap::new();
        for header in &self.header {
            let (name, value) = header.split_once(':').ok_or_else(|| {
                Failure::usage(anyhow!("'{header}' is not a header"))
                    .hint("write it as 'Name: value'")
            })?;
            let value = value.trim();
            let variable = value
                .strip_prefix("${env:")
                .and_then(|rest| rest.strip_suffix('}'));
            let value = match variable {
                None => value.to_owned(),
                Some(name) => std::env::var(name).map_err(|_| {
                    Failure::usage(anyhow!("the environment variable {name} is not set"))
                })?,
            };
            headers.insert(name.trim().to_owned(), value);
        }
        Ok(headers)
    }

    pub(super) fn settings(&self, mut validation: Validation) -> Result<Settings, Failure> {
        validation.strict |= self.strict;
        validation.assert_formats |= self.assert_formats;
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Ok(Settings {
            seed: self.seed,
            coverage: self.max_calls,
            random: self.random,
            stateful: self.random.min(8),
            max_tools: self.max_tools,
            only: self.tool.clone(),
            allow: self.allow_tool.clone(),
            timeout: Duration::from_secs_f64(self.timeout),
            patience: Duration::from_secs_f64(self.timeout * PATIENCE),
            validation,
            today: Date::from_unix_seconds(now.as_secs()),
            values: self.value.clone(),
            case: self.case.as_deref().map(case).transpose()?,
            reproduce: Reproducer::from_arguments(self).into_function(),
            ..Settings::default()
        })
    }

    /// The words that lead to the same server under the same rules.
    pub(in crate::commands::contract) fn words(&self) -> (Vec<String>, Vec<String>) {
        let mut before = Vec::new();
        for (flag, set) in [
            ("--strict", self.strict),
            ("--assert-formats", self.assert_formats),
        ] {
            before.extend(set.then(|| flag.to_owned()));
        }
        if (self.timeout - 10.0).abs() > f64::EPSILON {
            before.extend(["--timeout".to_owned(), self.timeout.to_string()]);
        }
        for (flag, values) in [
            ("--allow-tool", &self.allow_tool),
            ("--header", &self.header),
        ] {
            before.extend(
                values
                    .iter()
                    .flat_map(|value| [flag.to_owned(), value.clone()]),
            );
        }
        let value =
            |(name, value): &(String, Value)| ["--value".to_owned(), format!("{name}={value}")];
        before.extend(self.value.iter().flat_map(value));
        let mut after = Vec::new();
        if let Some(plan) = &self.plan {
            before.extend(["--plan".to_owned(), plan.to_string_lossy().into_owned()]);
        } else if let Some(url) = &self.url {
            after.push(url.clone());
        } else {
            after.push("--".to_owned());
            after.extend(self.command.iter().cloned());
        }
        (before, after)
    }
}

/// Arguments given on the command line, or in a file.
fn case(given: &str) -> Result<Value, Failure> {
    if let Ok(value) = serde_json::from_str(given) {
        return Ok(value);
    }
    let read = || -> anyhow::Result<Value> {
        let size = std::fs::metadata(given)?.len();
        anyhow::ensure!(
            size <= MAX_CASE_BYTES,
            "it is larger than {} KiB",
            MAX_CASE_BYTES >> 10
        );
        Ok(serde_json::from_slice(&std::fs::read(given)?)?)
    };
    let read =
        read().with_context(|| format!("--case is neither JSON nor a file with JSON: '{given}'"));
    read.map_err(Failure::usage)
}
