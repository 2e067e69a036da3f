//! The numbers of a `Summary`: the hourly roll-up of the index plus the records it does not have yet.
//!
//! Reads a row per hour, place, type and status; never the records.

use std::collections::HashMap;
use std::time::Duration;

use rusqlite::Connection;

use super::index::HOUR_MILLIS;
use super::read::{for_each_after, mark};
use crate::hours::{HourCounts, Hours};
use crate::record::{Kind, Status};
use crate::store::rates::{ServerRates, WEEK_HOURS, count_record, minute_an_hour_ago};
use crate::summary::{CountKey, Counts, GroupBy, Rates, Summary, Totals};
use crate::time::Timestamp;

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
    let mut servers = server_rates(&snapshot, now)?;
    for_each_after(&snapshot, mark, |record| {
        servers.add(record, now);
        if record.timestamp.as_millis() / HOUR_MILLIS >= hour {
            count_record(&mut totals, record);
        }
    })?;
    let since = Timestamp::from_millis(hour * HOUR_MILLIS);
    Ok(totals.finish(since, now, |server| servers.mark(server)))
}

/// Counts of each of these hours.
pub(crate) fn hours(
    connection: &Connection,
    period: Duration,
    now: Timestamp,
) -> rusqlite::Result<Vec<HourCounts>> {
    let snapshot = connection.unchecked_transaction()?;
    let mut hours = Hours::new(period, now);
    let mut statement = snapshot.prepare_cached(
        "SELECT hour, kind, status, sum(count) FROM ix.rollup WHERE hour >= ?1 GROUP BY hour, kind, status",
    )?;
    let mut rows = statement.query([hours.first])?;
    while let Some(row) = rows.next()? {
        let coded = (Kind::from_code(row.get(1)?), Status::from_code(row.get(2)?));
        if let (Some(kind), Some(status)) = coded {
            hours.add(row.get(0)?, kind, status, row.get(3)?);
        }
    }
    for_each_after(&snapshot, mark(&snapshot)?, |record| {
        hours.add_record(record);
    })?;
    Ok(hours.finish())
}

fn rolled_up(connection: &Connection, hour: u64, totals: &mut Totals) -> rusqlite::Result<()> {
    // Added up before the names are looked up: there are many hours of each place.
    let mut statement = connection.prepare_cached(
        "SELECT s.text, t.text, r.kind, r.status, r.records, r.validated, r.rejected, r.tokens
         FROM (SELECT place, kind, status, sum(count) AS records, sum(validated) AS validated, sum(rejected) AS rejected,
                      sum(tokens) AS tokens
               FROM ix.rollup WHERE hour >= ?1 GROUP BY place, kind, status) r
         JOIN ix.place p ON p.id = r.place LEFT JOIN ix.name s ON s.id = p.server LEFT JOIN ix.name t ON t.id = p.tool",
    )?;
    let mut rows = statement.query([hour])?;
    while let Some(row) = rows.next()? {
        let (server, tool): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
        let place = CountKey {
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

fn server_rates(connection: &Connection, now: Timestamp) -> rusqlite::Result<ServerRates> {
    let last_hour = "SELECT n.text, sum(r.validated), sum(r.rejected) FROM ix.recent r JOIN ix.name n ON n.id = r.server
                     WHERE r.minute > ?1 GROUP BY r.server";
    let week = "SELECT n.text, sum(r.validated), sum(r.rejected)
                FROM (SELECT place, sum(validated) AS validated, sum(rejected) AS rejected FROM ix.rollup WHERE hour >= ?1
                      GROUP BY place) r
                JOIN ix.place p ON p.id = r.place JOIN ix.name n ON n.id = p.server GROUP BY p.server";
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
    Ok(ServerRates {
        last_hour: read(last_hour, minute_an_hour_ago(now))?,
        week: read(
            week,
            (now.as_millis() / HOUR_MILLIS).saturating_sub(WEEK_HOURS),
        )?,
    })
}
