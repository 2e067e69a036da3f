//! `countersign contract`: whether a server keeps what its tool list promises, and what changed between two lists.

use clap::Subcommand;

use crate::report::Failure;
use crate::{Console, Exit};

mod baseline;
mod diff;
mod reproduce;
mod run;

const EXAMPLES: &str = "\
Examples:
  countersign contract run -- npx -y some-server
  countersign contract run --strict --baseline known.json http://127.0.0.1:8080/mcp
  countersign contract diff old-tools.json new-tools.json";

/// Test whether a server keeps what its tool list promises
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    Run(Box<run::Arguments>),
    Diff(diff::Arguments),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments, console),
        Command::Diff(arguments) => diff::run(arguments, console),
    }
}
