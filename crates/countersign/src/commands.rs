//! The commands, one file each: its arguments as a type and a `run` that takes them. This file only lists them.

use clap::Subcommand;

use crate::report::Failure;
use crate::{Console, Exit};

mod completions;
mod config;
mod inspect;
mod man;
mod schema;

/// What `countersign` can be told to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Inspect(inspect::Arguments),
    Config(config::Arguments),
    Schema(schema::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

pub(crate) fn run(command: Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Inspect(arguments) => inspect::run(&arguments, console),
        Command::Config(arguments) => config::run(&arguments, console),
        Command::Schema(arguments) => schema::run(&arguments, console),
        Command::Completions(arguments) => completions::run(&arguments, console),
        Command::Man(arguments) => man::run(&arguments, console),
    }
}
