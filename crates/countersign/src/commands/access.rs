//! `countersign access`: which callers may see and use what.

use clap::Subcommand;

use crate::report::Failure;
use crate::{Console, Exit};

mod test;

const EXAMPLES: &str = "\
Examples:
  countersign access test --caller key:ci crm:delete_contact
  countersign access test --caller corp:ada --group support --scope crm:write crm:update_contact";

/// See what the rules of the configuration allow a caller
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    Test(test::Arguments),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let Command::Test(arguments) = command;
    test::run(arguments, console)
}
