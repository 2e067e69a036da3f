//! The numbers of a `Summary`: the hourly roll-up of the index plus the records it does not have yet.
//!
//! Reads a row per hour, place, type and status; never the records.

use std::collections::HashMap;
use std::time::Duration;

use rusqlite::Connection;

use super::index::{HOUR_MILLIS, MINUTE_MILLIS};
use super::read::{for_each_after, mark};
use crate::record::glance::Glance;
use crate::record::{Kind, Record, Status};
use crate::summary::{Counts, GroupBy, Place, Rates, Summary, Totals, rising};
use crate::time::Timestamp;

const WEEK_HOURS: u64 = 7 * 24;

/// Counts of the hours that `period` before `now` touches.
pub(crate) fn summary(
    connection: &Connection,
    by: GroupBy,
    period: Duration,
    now: Timestamp,
) -> rusqlite::Result<Summary> {
    let snapshot = connection.unchecked_transaction()?;
    let hour = now.before(period).as_millis() / HOUR_MILLIS;
    let mark = mark(&snapshot)?;
    let mut totals = Totals::new(by);
    rolled_up(&snapshot, hour, &mut totals)?;
    rules(&snapshot, hour, &mut totals)?;
    let mut signals = Signals::read(&snapshot, now)?;
    for_each_after(&snapshot, mark, |record| {
        signals.add(record, now);
        if record.timestamp.as_millis() / HOUR_MILLIS >= hour {
            add(&mut totals, record);
        }
    })?;
    let since = Timestamp::from_millis(hour * HOUR_MILLIS);
    Ok(totals.finish(since, now, |server| signals.mark(server)))
}

fn rolled_up(connection: &Connection, hour: u64, totals: &mut Totals) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT s.text, t.text, r.kind, r.status, sum(r.count), sum(r.validated), sum(r.rejected), sum(r.tokens)
         FROM ix.rollup r JOIN ix.place p ON p.id = r.place LEFT JOIN ix.name s ON s.id = p.server LEFT JOIN ix.name t ON t.id = p.tool
         WHERE r.hour >= ?1 GROUP BY r.place, r.kind, r.status",
    )?;
    let mut rows = statement.query([hour])?;
    while let Some(row) = rows.next()? {
        let (server, tool): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
        let place = Place {
            server: server.as_deref(),
            tool: tool.as_deref(),
        };
        let counts = Counts {
            records: row.get(4)?,
            rates: Rates {
                validated: row.get(5)?,
                rejected: row.get(6)?,
            },
            tokens: row.get(7)?,
        };
        if let (Some(kind), Some(status)) =
            (Kind::from_code(row.get(2)?), Status::from_code(row.get(3)?))
        {
            totals.add(place, kind, status, counts);
        }
    }
    Ok(())
}

fn rules(connection: &Connection, hour: u64, totals: &mut Totals) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT n.text, sum(r.count) FROM ix.rollup_rule r JOIN ix.name n ON n.id = r.rule WHERE r.hour >= ?1 GROUP BY r.rule",
    )?;
    let mut rows = statement.query([hour])?;
    while let Some(row) = rows.next()? {
        totals.add_rule(row.get_ref(0)?.as_str()?, row.get(1)?);
    }
    Ok(())
}

/// One record, as the roll-up would have counted it.
fn add(totals: &mut Totals, record: &Record) {
    let place = Place {
        server: record.server.as_deref(),
        tool: record.tool.as_deref(),
    };
    let counts = Counts {
        records: 1,
        rates: rates(record),
        tokens: Glance::from(record).control_tokens(),
    };
    totals.add(place, record.kind(), record.status(), counts);
    let mut rules: Vec<&str> = record.findings.iter().map(|f| f.rule.as_ref()).collect();
    rules.sort_unstable();
    rules.dedup();
    for rule in rules {
        totals.add_rule(rule, 1);
    }
}

fn rates(record: &Record) -> Rates {
    Rates {
        validated: u64::from(record.validated),
        rejected: u64::from(record.is_contract_rejection()),
    }
}

/// Each server's last hour, and its last week with that hour in it.
#[derive(Default)]
struct Signals {
    last_hour: HashMap<String, Rates>,
    week: HashMap<String, Rates>,
}

impl Signals {
    fn read(connection: &Connection, now: Timestamp) -> rusqlite::Result<Self> {
        let last_hour = "SELECT n.text, sum(r.validated), sum(r.rejected) FROM ix.recent r JOIN ix.name n ON n.id = r.server
                         WHERE r.minute > ?1 GROUP BY r.server";
        let week = "SELECT n.text, sum(r.validated), sum(r.rejected) FROM ix.rollup r JOIN ix.place p ON p.id = r.place
                    JOIN ix.name n ON n.id = p.server WHERE r.hour >= ?1 GROUP BY p.server";
        let read = |sql: &str, from: u64| -> rusqlite::Result<HashMap<String, Rates>> {
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([from], |row| {
                Ok((
                    row.get(0)?,
                    Rates {
                        validated: row.get(1)?,
                        rejected: row.get(2)?,
                    },
                ))
            })?;
            rows.collect()
        };
        Ok(Self {
            last_hour: read(last_hour, hour_ago(now))?,
            week: read(
                week,
                (now.as_millis() / HOUR_MILLIS).saturating_sub(WEEK_HOURS),
            )?,
        })
    }

    fn add(&mut self, record: &Record, now: Timestamp) {
        let (Some(server), rates) = (&record.server, rates(record)) else {
            return;
        };
        let recent = record.timestamp.as_millis() / MINUTE_MILLIS > hour_ago(now);
        for map in [recent.then_some(&mut self.last_hour), Some(&mut self.week)]
            .into_iter()
            .flatten()
        {
            let sum = map.entry(server.clone()).or_default();
            sum.validated += rates.validated;
            sum.rejected += rates.rejected;
        }
    }

    fn mark(&self, server: &str) -> Option<crate::summary::Rising> {
        let last_hour = self.last_hour.get(server).copied().unwrap_or_default();
        let week = self.week.get(server).copied().unwrap_or_default();
        let trailing = Rates {
            validated: week.validated.saturating_sub(last_hour.validated),
            rejected: week.rejected.saturating_sub(last_hour.rejected),
        };
        rising(last_hour, trailing)
    }
}

/// The minute an hour before this one.
fn hour_ago(now: Timestamp) -> u64 {
    (now.as_millis() / MINUTE_MILLIS).saturating_sub(60)
}
