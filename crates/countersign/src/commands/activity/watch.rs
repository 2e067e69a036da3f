//! `countersign activity watch`: records as they are written, until Ctrl-C. Follows the gateway's events; when the gateway
//! closes the stream, asks for it again, and when the gateway stops, goes on in the store: always from the same place, so
//! that nothing is missed and nothing shown twice.

use std::thread;
use std::time::Duration;

use clap::Args;
use countersign_audit::{Filter, Reader, Timestamp};
use serde_json::Value;

use super::filter::{Pairs, RecordFilter, query_string};
use super::log::{Log, stored, unreadable};
use super::{GatewayOption, tool};
use crate::format::{Format, FormatOption};
use crate::json::text;
use crate::remote::{Body, Remote};
use crate::report::{Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity watch
  countersign activity watch --decision flagged,blocked
  countersign activity watch --server crm -o json -n 10";
/// How often the store is looked at where no gateway runs.
const TURN: Duration = Duration::from_millis(250);
const STEP: usize = 100;
const WATCHING: &str = "watching; Ctrl-C to stop\n";

/// Show records as they are written
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    filter: RecordFilter,
    /// End after so many
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let pairs = arguments.filter.pairs();
    let filter = Filter::from_pairs(pairs.clone(), Timestamp::now()).map_err(Failure::usage)?;
    let config = arguments.gateway.config(console)?;
    let mut watch = Watch {
        place: None,
        left: arguments.limit.unwrap_or(u64::MAX),
        format: arguments.format.output,
        console,
    };
    let reader = match Log::from_config(&config)? {
        Log::Running(remote) => {
            watch.gateway(&remote, &pairs)?;
            if watch.is_over() {
                return Ok(Exit::Ok);
            }
            stored(&config)?
        }
        Log::Stored(reader) => reader,
    };
    watch.store(&reader, &filter)?;
    Ok(Exit::Ok)
}

struct Watch<'a, 'c> {
    /// The place of the last record shown.
    place: Option<u64>,
    left: u64,
    format: Format,
    console: &'a mut Console<'c>,
}

impl Watch<'_, '_> {
    fn is_over(&self) -> bool {
        self.left == 0 || self.console.is_left()
    }

    /// Shows what a gateway tells, over as many streams as it takes, until it stops.
    fn gateway(&mut self, remote: &Remote, pairs: &Pairs) -> Result<(), Failure> {
        let path = format!("/events?{}", query_string(pairs));
        let mut stream = remote.stream(&path, self.place)?;
        loop {
            let before = self.place;
            let end = self.events(&mut stream)?;
            if self.is_over() {
                return Ok(());
            }
            // A stream that breaks off before anything has come is not asked for again and again.
            let goes_on = end == End::TooSlow || (end == End::Broken && self.place > before);
            let again = goes_on.then(|| remote.stream(&path, self.place).ok());
            let Some(again) = again.flatten() else {
                let message = "the gateway has stopped; watching its store\n";
                self.console.message(message);
                return Ok(());
            };
            stream = again;
            self.console.message(match end {
                End::TooSlow => {
                    "the gateway closed the stream, since records came faster than they were read; going on where it ended\n"
                }
                _ => "the stream broke off; going on where it ended\n",
            });
        }
    }

    /// Shows the events of one stream.
    fn events(&mut self, stream: &mut Body) -> Result<End, Failure> {
        while !self.is_over() {
            match next_event(stream) {
                Event::Place(place) => {
                    if self.place.is_none() {
                        self.console.message(WATCHING);
                    }
                    self.place = self.place.max(Some(place));
                }
                Event::Record(record) => self.show(&record)?,
                Event::End(end, place) => {
                    self.place = self.place.max(place);
                    return Ok(end);
                }
            }
        }
        Ok(End::Stopped)
    }

    /// Shows the records that any process writes into a store.
    fn store(&mut self, reader: &Reader, filter: &Filter) -> Result<(), Failure> {
        let mut place = if let Some(place) = self.place {
            place
        } else {
            let place = newest(reader)?;
            self.console.message(WATCHING);
            place
        };
        while !self.is_over() {
            let tail = reader
                .records_after(place, filter, STEP)
                .map_err(unreadable)?;
            place = tail.next;
            for record in &tail.records {
                let record = serde_json::to_value(record).map_err(anyhow::Error::from)?;
                self.show(&record)?;
            }
            if !tail.more {
                thread::sleep(TURN);
            }
        }
        Ok(())
    }

    fn show(&mut self, record: &Value) -> Result<(), Failure> {
        if self.is_over() {
            return Ok(());
        }
        let line = match self.format {
            Format::Json => format!("{record}\n"),
            Format::Text => rendered(record),
        };
        self.place = record["seq"].as_u64().or(self.place);
        self.left -= 1;
        self.console.data(line)?;
        self.console.flush()
    }
}

fn newest(reader: &Reader) -> Result<u64, Failure> {
    reader.newest().map_err(unreadable)
}

fn rendered(record: &Value) -> String {
    let line = format!(
        "{}  {:<15}  {:<9}  {}  {}",
        text(&record["timestamp"]),
        text(&record["type"]),
        text(&record["status"]),
        tool(record),
        text(&record["reason"])
    );
    format!("{}\n", printable(line.trim_end()))
}

enum Event {
    /// The stream begins after this place.
    Place(u64),
    Record(Value),
    /// There are no more, and where to go on if the gateway said so.
    End(End, Option<u64>),
}

/// Why a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The gateway ended it as it does when it stops.
    Stopped,
    /// The gateway ended it because its reader was too slow.
    TooSlow,
    /// The connection was lost, or what came is not an event.
    Broken,
}

/// The next event with something in it.
fn next_event(stream: &mut Body) -> Event {
    loop {
        let line = match stream.line() {
            Ok(Some(line)) => line,
            Ok(None) => return Event::End(End::Stopped, None),
            Err(_) => return Event::End(End::Broken, None),
        };
        if let Some(rest) = line.strip_prefix(": too slow") {
            let place = rest.rsplit(' ').next().and_then(|place| place.parse().ok());
            return Event::End(End::TooSlow, place);
        }
        let event = if let Some(place) = line.strip_prefix(": from ") {
            place.parse().ok().map(Event::Place)
        } else if let Some(data) = line.strip_prefix("data: ") {
            serde_json::from_str(data).ok().map(Event::Record)
        } else {
            continue;
        };
        return event.unwrap_or(Event::End(End::Broken, None));
    }
}
