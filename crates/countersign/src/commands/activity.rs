//! `countersign activity`: what was called and what was decided. Asks the running gateway, or reads the store where none
//! runs; either way the answer is the same.

use clap::Subcommand;
use serde_json::Value;

use super::gateway_option::GatewayOption;
use crate::report::Failure;
use crate::{Console, Exit};

mod export;
mod filter;
mod hours;
mod list;
mod log;
mod period;
mod receipt;
mod show;
mod summary;
mod verify;
mod verify_receipt;
mod watch;

pub(super) use filter::{Pairs, given_pairs, url_encoded};
pub(super) use log::Log;

const EXAMPLES: &str = "\
Examples:
  countersign activity list --type policy_decision
  countersign activity list --status blocked
  countersign activity show 01K9ZJ3M5T0000000000000000
  countersign activity watch --decision flagged,blocked
  countersign activity summary --by tool --period 7d
  countersign activity hours --period 7d
  countersign activity export --format csv --output activity.csv
  countersign activity verify
  countersign activity receipt 01K9ZJ3M5T0000000000000000 --output call.tlog-proof
  countersign activity verify-receipt call.tlog-proof --key 'example.com/log+5f3a9c01+AQ…'";

/// Read what was called and what was decided
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    List(Box<list::Arguments>),
    Show(show::Arguments),
    Watch(Box<watch::Arguments>),
    Summary(summary::Arguments),
    Hours(hours::Arguments),
    Export(Box<export::Arguments>),
    Verify(verify::Arguments),
    Receipt(receipt::Arguments),
    VerifyReceipt(verify_receipt::Arguments),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::List(arguments) => list::run(arguments, console),
        Command::Show(arguments) => show::run(arguments, console),
        Command::Watch(arguments) => watch::run(arguments, console),
        Command::Summary(arguments) => summary::run(arguments, console),
        Command::Hours(arguments) => hours::run(arguments, console),
        Command::Export(arguments) => export::run(arguments, console),
        Command::Verify(arguments) => verify::run(arguments, console),
        Command::Receipt(arguments) => receipt::run(arguments, console),
        Command::VerifyReceipt(arguments) => verify_receipt::run(arguments, console),
    }
}

/// The tool as people write it.
pub(super) fn tool(record: &Value) -> String {
    match (record["server"].as_str(), record["tool"].as_str()) {
        (Some(server), Some(tool)) => format!("{server}:{tool}"),
        (None, Some(name)) | (Some(name), None) => name.to_owned(),
        (None, None) => String::new(),
    }
}
