//! `countersign keys`: the callers with a key of their own, in the configuration file and in the gateway that runs with it.

mod add;
mod revoke;

use std::path::Path;

use clap::{Args, Subcommand};
use countersign_config::{CallerChangeError, CallerConfig};
use serde_json::{Value, json};

use super::config::refused as refuse;
use super::file_change::FileChange;
use super::gateway_option::GatewayOption;
use crate::format::{Format, FormatOption};
use crate::report::{Failure, printable};
use crate::table::table;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign keys add ci --group build --expires 90d
  countersign keys list
  countersign keys revoke ci";

const LIST: &str = "\
Examples:
  countersign keys list
  countersign keys list -o json

The callers that the configuration file names. Keys are not in the file, only their digests; the first digits tell them
apart. The api_key and the admin_key are not listed.
Exit codes: 0 listed, 2 the configuration cannot be used.";

/// Keys of callers: who may use the gateway, and with which rights
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    Add(add::Add),
    /// List the callers that the configuration names
    #[command(after_help = LIST)]
    List(Listing),
    Revoke(revoke::Revoke),
}

// No documentation comment: it would be the help text of the command.
#[derive(Debug, Args)]
pub(crate) struct Listing {
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Add(add) => add::run(add, console),
        Command::List(listing) => list(listing, console),
        Command::Revoke(arguments) => revoke::run(arguments, console),
    }
}

fn list(listing: &Listing, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let config = listing.gateway.config(console)?;
    match listing.format.output {
        Format::Json => {
            let mut callers = config.callers.iter();
            callers.try_for_each(|caller| console.json(&described(caller)))?;
        }
        Format::Text => console.data(rendered(&config.callers))?,
    }
    Ok(Exit::Ok)
}

fn described(caller: &CallerConfig) -> Value {
    json!({
        "caller": caller.full_name(),
        "groups": caller.groups,
        "rights": caller.rights,
        "expires": caller.expires.map(|expires| expires.to_string()),
        "key_sha256_begins": caller.fingerprint(),
    })
}

fn rendered(callers: &[CallerConfig]) -> String {
    let rows = callers.iter().map(|caller| {
        let rights: Vec<_> = caller.rights.iter().map(|right| right.as_str()).collect();
        [
            caller.full_name(),
            printable(&caller.groups.join(" ")),
            rights.join(" "),
            caller
                .expires
                .map_or("never".to_owned(), |at| at.to_string()),
            caller.fingerprint().unwrap_or_default(),
        ]
    });
    table(&["caller", "groups", "rights", "expires", "digest"], rows)
}

/// When the change takes effect.
fn next(made: &FileChange) -> &'static str {
    if made.is_running {
        "it is in force\n"
    } else {
        "no gateway is running; it takes effect with the next start\n"
    }
}

/// Says why a change cannot be made. A caller that is not there is an answer, not a mistake.
fn refuse_change(
    error: CallerChangeError,
    file: &Path,
    console: &mut Console<'_>,
) -> Result<Exit, Failure> {
    match error {
        CallerChangeError::Unknown { ref hint, .. } => {
            console.message(format!(
                "{}\nhint: {}\n",
                printable(&error.to_string()),
                printable(hint)
            ));
            Ok(Exit::No)
        }
        CallerChangeError::Name(error) => Err(refuse(error.without_lines(), console)),
        CallerChangeError::File(error) => Err(refuse(error.in_file(file), console)),
        error => Err(Failure::usage(error)
            .hint("choose another name, or revoke that one first with `countersign keys revoke`")),
    }
}
