//! `countersign activity`: what was called and what was decided. Asks the running gateway, or reads the store where none
//! runs; either way the answer is the same.

use clap::{Args, Subcommand};
use countersign_audit::{Query, Reader, StoreError, Ulid};
use countersign_gateway::config::Config;
use countersign_gateway::store_options;
use serde_json::Value;

use super::whose::Whose;
use crate::remote::Remote;
use crate::report::Failure;
use crate::{Console, Exit};

mod list;
mod show;

const EXAMPLES: &str = "\
Examples:
  countersign activity list --type policy_decision
  countersign activity list --status blocked
  countersign activity show 01K9ZJ3M5T0000000000000000";

/// Read what was called and what was decided
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(Box<list::Arguments>),
    Show(show::Arguments),
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::List(arguments) => list::run(arguments, console),
        Command::Show(arguments) => show::run(arguments, console),
    }
}

/// The activity log, wherever it can be read.
enum Log {
    Running(Remote),
    Stored(Reader),
}

impl Log {
    fn of(config: &Config) -> Result<Self, Failure> {
        if let Some(remote) = Remote::find(config)? {
            return Ok(Self::Running(remote));
        }
        let reader = Reader::open(&store_options(config)).map_err(unreadable)?;
        Ok(Self::Stored(reader))
    }

    /// A page of records, as the REST interface writes it. `query` and `pairs` say the same.
    fn list(&self, query: &Query, pairs: &[(&'static str, String)]) -> Result<Value, Failure> {
        match self {
            Self::Running(remote) => {
                let pairs = pairs
                    .iter()
                    .map(|(key, value)| format!("{key}={}", encoded(value)));
                let query = pairs.collect::<Vec<_>>().join("&");
                remote.get(&format!("/api/v1/activity?{query}"))?.json()
            }
            Self::Stored(reader) => {
                let page = reader.list(query).map_err(unreadable)?;
                Ok(serde_json::to_value(page).map_err(anyhow::Error::from)?)
            }
        }
    }

    /// One record; nothing if there is none of this id.
    fn show(&self, id: Ulid) -> Result<Option<Value>, Failure> {
        match self {
            Self::Running(remote) => {
                let answer = remote.get(&format!("/api/v1/activity/{id}"))?;
                if answer.status == 404 {
                    Ok(None)
                } else {
                    answer.json().map(Some)
                }
            }
            Self::Stored(reader) => {
                let stored = reader.show(id).map_err(unreadable)?;
                let value = stored.map(serde_json::to_value).transpose();
                Ok(value.map_err(anyhow::Error::from)?)
            }
        }
    }
}

fn unreadable(error: StoreError) -> Failure {
    Failure::usage(error).hint("check the data directory; `countersign serve` makes one")
}

/// A value as it can stand in a URL's query.
fn encoded(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b',' => {
                safe.push(byte.into());
            }
            _ => safe.extend(['%', digit(byte >> 4), digit(byte & 15)]),
        }
    }
    safe
}

fn digit(nibble: u8) -> char {
    char::from_digit(nibble.into(), 16).unwrap_or('0')
}

/// A member that is text, or nothing.
fn text(record: &Value, name: &str) -> String {
    record[name].as_str().unwrap_or_default().to_owned()
}

/// The tool as people write it.
fn tool(record: &Value) -> String {
    match (record["server"].as_str(), record["tool"].as_str()) {
        (Some(server), Some(tool)) => format!("{server}:{tool}"),
        (None, Some(name)) | (Some(name), None) => name.to_owned(),
        (None, None) => String::new(),
    }
}
