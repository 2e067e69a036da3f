//! `countersign activity watch`: records as they are written, until Ctrl-C. Follows the gateway's events; when the gateway
//! stops, goes on from the same place in the store, so that nothing is missed and nothing shown twice.

use std::thread;
use std::time::Duration;

use clap::Args;
use countersign_audit::{Filter, Query, Reader, Timestamp};
use serde_json::Value;

use super::filter::{Pairs, Which, query};
use super::log::{Log, stored, unreadable};
use super::{Whose, text, tool};
use crate::format::{Format, FormatOption};
use crate::remote::{Remote, Stream};
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
pub(super) struct Arguments {
    #[command(flatten)]
    which: Which,
    /// End after so many
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let pairs = arguments.which.pairs();
    let asked = pairs.iter().map(|(key, value)| (key, value));
    let filter = Filter::from_pairs(asked, Timestamp::now()).map_err(Failure::usage)?;
    let config = match arguments.whose.config(console) {
        Ok(config) => config,
        Err(exit) => return Ok(exit),
    };
    let mut watch = Watch {
        place: None,
        left: arguments.limit.unwrap_or(u64::MAX),
        format: arguments.format.output,
        console,
    };
    let reader = match Log::of(&config)? {
        Log::Running(remote) => {
            watch.events(&remote, &pairs)?;
            if watch.is_over() {
                return Ok(Exit::Ok);
            }
            watch
                .console
                .message("the gateway has stopped; watching its store\n");
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

    /// Shows what a gateway tells, until it stops.
    fn events(&mut self, remote: &Remote, pairs: &Pairs) -> Result<(), Failure> {
        let path = format!("/events?{}", query(pairs));
        let mut stream = remote.stream(&path, self.place)?;
        while !self.is_over()
            && let Some(event) = next_event(&mut stream)
        {
            match event {
                Event::Place(place) => {
                    self.console.message(WATCHING);
                    self.place = self.place.max(Some(place));
                }
                Event::Record(record) => self.show(&record)?,
            }
        }
        Ok(())
    }

    /// Shows what comes into a store, whoever writes it.
    fn store(&mut self, reader: &Reader, filter: &Filter) -> Result<(), Failure> {
        let mut place = if let Some(place) = self.place {
            place
        } else {
            let place = newest(reader)?;
            self.console.message(WATCHING);
            place
        };
        while !self.is_over() {
            let tail = reader.after(place, filter, STEP).map_err(unreadable)?;
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
    let query = Query {
        limit: 1,
        ..Query::default()
    };
    let page = reader.list(&query).map_err(unreadable)?;
    Ok(page.activities.first().map_or(0, |record| record.seq))
}

fn rendered(record: &Value) -> String {
    let line = format!(
        "{}  {:<15}  {:<9}  {}  {}",
        text(record, "timestamp"),
        text(record, "type"),
        text(record, "status"),
        tool(record),
        text(record, "reason")
    );
    format!("{}\n", printable(line.trim_end()))
}

enum Event {
    /// The stream begins after this place.
    Place(u64),
    Record(Value),
}

/// The next event with something in it; nothing at the end of the stream.
fn next_event(stream: &mut Stream) -> Option<Event> {
    loop {
        let line = stream.line().ok()??;
        if let Some(place) = line.strip_prefix(": from ") {
            return Some(Event::Place(place.parse().ok()?));
        }
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).ok().map(Event::Record);
        }
    }
}
