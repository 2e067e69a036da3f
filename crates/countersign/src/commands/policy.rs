//! `countersign policy`: what a change of the policy would do.

use clap::Subcommand;

use crate::report::Failure;
use crate::{Console, Exit};

mod preview;

const EXAMPLES: &str = "\
Examples:
  countersign policy preview --mode strict --since 7d
  countersign policy preview --server crm -o json";

/// See what a change of the policy would do
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    Preview(preview::Arguments),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let Command::Preview(arguments) = command;
    preview::run(arguments, console)
}
