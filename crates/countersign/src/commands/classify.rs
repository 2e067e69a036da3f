//! `countersign classify`: how good classifiers are, measured before anything depends on them.

use clap::Subcommand;

use crate::report::Failure;
use crate::{Console, Exit};

mod eval;
mod sets;
mod tally;

const EXAMPLES: &str = "\
Examples:
  countersign classify eval --data ./injection
  countersign classify eval --local ~/models/minilm --data ./injection -o json";

/// Measure injection classifiers
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    Eval(eval::Eval),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Eval(arguments) => eval::run(arguments, console),
    }
}
