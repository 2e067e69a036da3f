//! `countersign policy`: what a change of the policy would do.

use clap::{Args, Subcommand};

use crate::report::Failure;
use crate::{Console, Exit};

mod preview;

const EXAMPLES: &str = "\
Examples:
  countersign policy preview --mode strict --since 7d
  countersign policy preview --server crm -o json";

/// See what a change of the policy would do
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Preview(preview::Arguments),
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let Command::Preview(arguments) = &arguments.command;
    preview::run(arguments, console)
}
