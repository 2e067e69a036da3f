//! `countersign schema check`: can this schema be enforced? One line per file; no instance is looked at.

use clap::Args;
use serde::Serialize;

use super::{CompileOptions, worst};
use crate::format::FormatOption;
use crate::report::{self, Failure, printable};
use crate::source::Source;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign schema check weather.schema.json
  countersign schema check -o json tools/*.json

Exit codes: 0 all can be enforced, 1 one cannot, 2 one cannot be read.";

/// Say whether each schema can be enforced, and if not, why
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Schema files; '-' reads one from stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<Source>,
    #[command(flatten)]
    compile: CompileOptions,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(Debug, Serialize)]
struct CheckReport {
    file: String,
    enforceable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl CheckReport {
    fn text(&self) -> String {
        let file = printable(&self.file);
        match &self.reason {
            None => format!("{file}: ok\n"),
            Some(reason) => format!("{file}: unenforceable: {}\n", printable(reason)),
        }
    }
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    Source::stdin_at_most_once(&arguments.files)?;
    let mut exits = Vec::new();
    for file in &arguments.files {
        exits.push(match file.read(console) {
            Ok(bytes) => check(arguments, file, &bytes, console)?,
            Err(failure) => report::failure(&failure, console),
        });
    }
    Ok(worst(exits))
}

fn check(
    arguments: &Arguments,
    file: &Source,
    bytes: &[u8],
    console: &mut Console<'_>,
) -> Result<Exit, Failure> {
    let compiled = arguments.compile.compile(bytes);
    let checked = CheckReport {
        file: file.name().into_owned(),
        enforceable: compiled.is_ok(),
        dialect: compiled
            .as_ref()
            .ok()
            .map(|schema| schema.dialect().as_str()),
        reason: compiled.err().map(|reason| reason.to_string()),
    };
    arguments
        .format
        .print(&checked, || checked.text(), console)?;
    Ok(Exit::answer(checked.enforceable))
}
