//! `countersign store`: the database of the activity log itself.

use clap::Subcommand;

use crate::report::Failure;
use crate::{Console, Exit};

mod copy;
mod migrate;

const EXAMPLES: &str = "\
Examples:
  countersign store copy sqlite: 'postgres://countersign@db.example/countersign'
  countersign store migrate 'postgres://owner@db.example/countersign'";

/// Move the activity log to PostgreSQL, or prepare a database for it
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    Copy(copy::Arguments),
    Migrate(migrate::Arguments),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Copy(arguments) => copy::run(arguments, console),
        Command::Migrate(arguments) => migrate::run(arguments, console),
    }
}
