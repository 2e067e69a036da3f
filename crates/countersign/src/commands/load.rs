//! `countersign load`: how a server performs under load, and whether it keeps its contract meanwhile. Each subcommand in its own
//! file; shared are the writing of reports and the exit codes of a run that did not start.

mod compare;
mod overhead;
mod report;
mod run;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use countersign_inspect::UnknownWord;
use countersign_probe::load::LoadError;
use countersign_probe::plan::{Format, Plan};
use countersign_probe::report::{Run, render};

use super::value_parser::{parse_format_and_file, word};
use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign load run plan.toml --explain
  countersign load run plan.toml --report html=run.html --report json=run.json
  countersign load overhead plan.toml --through http://127.0.0.1:8080/mcp/s/files
  countersign load report run.json -o markdown

A small plan:
  [server]
  url = \"http://127.0.0.1:8080/mcp\"
  [load]
  rate = 50
  duration = \"30s\"
  [[scenario]]
  tool = \"search\"
  arguments = { query = \"rust\" }
  [thresholds]
  \"tools/call.response.p99\" = \"< 300ms\"

Exit codes: 0 everything holds, 1 a threshold or the contract does not, 2 the plan is wrong, 3 the
server cannot be reached, 4 the offered load was not made, so the figures are not the server's.";

/// Put a server under load, and hold what it answers to its contract
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    Run(run::Arguments),
    Overhead(overhead::Arguments),
    Compare(compare::Arguments),
    Report(report::Arguments),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments, console),
        Command::Overhead(arguments) => overhead::run(arguments, console),
        Command::Compare(arguments) => compare::run(arguments, console),
        Command::Report(arguments) => report::run(arguments, console),
    }
}

/// The words of `-o`: those of a plan, with `text` for what is written to a terminal.
const PRINTED: &[&str] = &[
    "text",
    "json",
    "markdown",
    "html",
    "prometheus",
    "junit",
    "sarif",
];

fn parse_printed(word: &str) -> Result<Format, UnknownWord> {
    match word {
        "text" => Ok(Format::Terminal),
        other => other.parse(),
    }
}

/// How to print and where else to write.
#[derive(Debug, Args)]
struct Reports {
    /// How to print
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        default_value = "text",
        value_parser = word(PRINTED, parse_printed)
    )]
    output: Format,
    /// A report to write besides, as FORMAT=FILE; may be given several times
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = parse_report)]
    files: Vec<(Format, PathBuf)>,
}

/// Reads `FORMAT=FILE`.
fn parse_report(text: &str) -> Result<(Format, PathBuf), String> {
    let known = Format::WORDS.join(", ");
    parse_format_and_file(text, &known, |name| name.parse().ok())
}

impl Reports {
    /// Prints a run, and writes it to every file that is wanted.
    fn write<'a>(
        &'a self,
        run: &Run,
        planned: impl Iterator<Item = (&'a Format, &'a PathBuf)>,
        console: &mut Console<'_>,
    ) -> Result<(), Failure> {
        let files = self.files.iter().map(|(format, file)| (format, file));
        for (format, file) in planned.chain(files) {
            write_file(file, &render(run, *format))?;
        }
        console.data(render(run, self.output))
    }
}

fn write_file(file: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))
            .map_err(Failure::usage)?;
    }
    std::fs::write(file, text)
        .with_context(|| format!("cannot write {}", file.display()))
        .map_err(Failure::usage)
}

/// Reads a plan, with a hint where a word is nearly right.
fn plan(file: &Path) -> Result<Plan, Failure> {
    Plan::load(file).map_err(|error| {
        let hint = match error.nearest() {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "docs/reference/plan.md has every key".to_owned(),
        };
        let error = anyhow::Error::from(error).context(format!("{} is no plan", file.display()));
        Failure::usage(error).hint(hint)
    })
}

/// The failure, if there was no run.
fn not_run(error: LoadError) -> Failure {
    match error {
        LoadError::Connect(_) | LoadError::List(_) => Failure::unreachable(error)
            .hint("check the [server] of the plan; does the server start by hand?"),
        LoadError::Authored(_) => Failure::answer_is_no(error)
            .hint("correct the arguments, or leave out [validation] strict"),
        LoadError::Thread(_) => Failure::from(anyhow::Error::from(error)),
    }
}

/// The exit of a run's verdict.
fn exit(run: &Run) -> Exit {
    match run.verdict.exit {
        0 => Exit::Ok,
        4 => Exit::Saturated,
        _ => Exit::No,
    }
}
