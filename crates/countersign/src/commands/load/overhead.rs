//! `countersign load overhead`: the same calls to a server directly and through whatever stands before it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use countersign_probe::client::{Program, Site, Target};
use countersign_probe::overhead::{self, Comparison, Overhead, OverheadError};

use super::plan;
use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign load overhead plan.toml --through http://127.0.0.1:8080/mcp/s/files \\
      --through-header 'Authorization=Bearer ${env:COUNTERSIGN_API_KEY}'
  countersign load overhead plan.toml --through 'countersign wrap -- ./my-server'

The plan says which calls are made and how far apart; its [server] is the direct way. Blocks of
calls go one way, then the other. A tool that does not answer the same twice is not compared.

Exit codes: 0 the answers are the same both ways, 1 they are not, 3 one of the two cannot be
reached.";

/// Compare a server directly and through a gateway: time, bytes, verdicts
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The calls
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Where the server is directly, instead of the plan's [server]: a URL or a command
    #[arg(long, value_name = "TARGET")]
    direct: Option<String>,
    /// Where the same server is behind something: a URL or a command
    #[arg(long, value_name = "TARGET")]
    through: String,
    /// A header for requests through it, as NAME=VALUE; ${env:NAME} is read from the environment
    #[arg(long, value_name = "NAME=VALUE", value_parser = header)]
    through_header: Vec<(String, String)>,
    /// What the tools' names begin with there
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
    /// How many calls each way
    #[arg(long, value_name = "N", default_value_t = 1000)]
    calls: usize,
    /// How many calls before the other way has its turn
    #[arg(long, value_name = "N", default_value_t = 20)]
    block: usize,
    /// How to print
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        value_enum,
        default_value_t
    )]
    output: Form,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    #[default]
    Text,
    Json,
    Markdown,
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${env:") {
        let (variable, after) = after.split_once('}').ok_or("a reference is not closed")?;
        let found = std::env::var(variable);
        out.push_str(before);
        out.push_str(&found.map_err(|_| format!("the variable {variable} is not set"))?);
        rest = after;
    }
    out.push_str(rest);
    Ok((name.to_owned(), out))
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let mut plan = plan(&arguments.plan)?;
    if let Some(direct) = &arguments.direct {
        (plan.target, plan.shown) = target(direct, &BTreeMap::new())?;
    }
    let headers = arguments.through_header.iter().cloned().collect();
    let (through, shown) = target(&arguments.through, &headers)?;
    let comparison = Comparison {
        plan,
        through,
        shown,
        prefix: arguments.prefix.clone(),
        calls: arguments.calls,
        block: arguments.block,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let mut progress = |done, total| console.progress(&format!("{done} of {total} calls each way"));
    let compared = runtime.block_on(overhead::run(&comparison, &mut progress));
    console.progress("");
    let overhead = compared.map_err(|error| match error {
        OverheadError::Connect(..) | OverheadError::List(..) => {
            Failure::unreachable(error).hint("is the gateway running, and is the key right?")
        }
    })?;
    console.data(shown_as(&overhead, arguments.output)?)?;
    Ok(Exit::answer(overhead.verdict.exit == 0))
}

fn shown_as(overhead: &Overhead, form: Form) -> Result<String, Failure> {
    Ok(match form {
        Form::Text => overhead::terminal(overhead),
        Form::Markdown => overhead::markdown(overhead),
        Form::Json => serde_json::to_string_pretty(overhead).map_err(anyhow::Error::from)? + "\n",
    })
}

/// A URL, or a command with its arguments between spaces.
fn target(text: &str, headers: &BTreeMap<String, String>) -> Result<(Target, String), Failure> {
    if text.starts_with("http://") || text.starts_with("https://") {
        let site = Site::new(text, headers)
            .with_context(|| format!("'{text}' cannot be used"))
            .map_err(Failure::usage)?;
        let shown = text.split(['?', '#']).next().unwrap_or_default();
        return Ok((Target::Http(site), shown.to_owned()));
    }
    let mut words = text.split_whitespace().map(str::to_owned);
    let command = words
        .next()
        .ok_or_else(|| Failure::usage(anyhow!("a target is empty")))?;
    let program = Program {
        command,
        args: words.collect(),
        ..Program::default()
    };
    Ok((Target::Stdio(program), text.to_owned()))
}
