//! The numbers of a `Summary`: the hourly roll-up plus the records it does not have yet.

use std::collections::HashMap;
use std::time::Duration;

use super::connection::Connection;
use super::days::{Day, Days, numbers};
use super::error::PostgresError;
use super::plan::list_of;
use super::rollup::HOUR_MILLIS;
use super::value::{signed, storable, unsigned};
use crate::hours::{HourCounts, Hours};
use crate::record::body::decode;
use crate::record::{Kind, Record, Status};
use crate::store::rates::{ServerRates, WEEK_HOURS, count_record, minute_an_hour_ago};
use crate::summary::{CountKey, Counts, GroupBy, Rates, Summary, Totals};
use crate::time::Timestamp;

/// Everything is read in one snapshot, so that no record is counted twice.
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Counts of the hours that `period` before `now` touches.
pub(super) fn summary(
    connection: &mut Connection,
    by: GroupBy,
    period: Duration,
    now: Timestamp,
) -> Result<Summary, PostgresError> {
    let hour = now.before(period).as_millis() / HOUR_MILLIS;
    connection.transaction(SNAPSHOT, |connection| {
        let mut totals = Totals::new(by);
        add_rolled_up(connection, hour, &mut totals)?;
        add_rules(connection, hour, &mut totals)?;
        let mut servers = server_rates(connection, now)?;
        for_each_uncounted(connection, |mut record| {
            // Under the name that the roll-up has it by.
            for name in [&mut record.server, &mut record.tool].into_iter().flatten() {
                *name = storable(name).into_owned();
            }
            servers.add(&record, now);
            if record.timestamp.as_millis() / HOUR_MILLIS >= hour {
                count_record(&mut totals, &record);
            }
        })?;
        let since = Timestamp::from_millis(hour * HOUR_MILLIS);
        Ok(totals.finish(since, now, |server| servers.mark(server)))
    })
}

/// Counts of each of these hours.
pub(super) fn hours(
    connection: &mut Connection,
    period: Duration,
    now: Timestamp,
) -> Result<Vec<HourCounts>, PostgresError> {
    connection.transaction(SNAPSHOT, |connection| {
        let mut hours = Hours::new(period, now);
        let sql = "SELECT hour, kind, status, sum(count)::bigint FROM rollup WHERE hour >= $1 GROUP BY hour, kind, status";
        connection.for_each(sql, &[&signed(hours.first)], |row| {
            let (kind, status): (i16, i16) = (row.get(1), row.get(2));
            let coded = (
                Kind::from_code(kind.into()),
                Status::from_code(status.into()),
            );
            if let (Some(kind), Some(status)) = coded {
                hours.add(unsigned(row.get(0)), kind, status, unsigned(row.get(3)));
            }
            Ok(true)
        })?;
        for_each_uncounted(connection, |record| hours.add_record(&record))?;
        Ok(hours.finish())
    })
}

/// Visits the records that the roll-up does not have yet.
fn for_each_uncounted(
    connection: &mut Connection,
    mut visit: impl FnMut(Record),
) -> Result<(), PostgresError> {
    let days = Days::read(connection)?;
    let open: Vec<Day> = days
        .newest_first(days.counted + 1, i64::MAX as u64)
        .concat();
    let newest = format!(
        "SELECT body FROM activity WHERE day IN ({}) AND seq > $1",
        list_of(&numbers(&open))
    );
    connection.for_each(&newest, &[&signed(days.counted)], |row| {
        if let Ok(record) = decode(row.get(0)) {
            visit(record);
        }
        Ok(true)
    })
}

fn add_rolled_up(
    connection: &mut Connection,
    hour: u64,
    totals: &mut Totals,
) -> Result<(), PostgresError> {
    let sql = "SELECT server, tool, kind, status, sum(count)::bigint, sum(validated)::bigint, sum(rejected)::bigint, sum(tokens)::bigint
               FROM rollup WHERE hour >= $1 GROUP BY server, tool, kind, status";
    connection.for_each(sql, &[&signed(hour)], |row| {
        let key = CountKey {
            server: row.get(0),
            tool: row.get(1),
        };
        let counts = Counts {
            records: unsigned(row.get(4)),
            rates: Rates {
                validated: unsigned(row.get(5)),
                rejected: unsigned(row.get(6)),
            },
            tokens: unsigned(row.get(7)),
        };
        let (kind, status): (i16, i16) = (row.get(2), row.get(3));
        let coded = (
            Kind::from_code(kind.into()),
            Status::from_code(status.into()),
        );
        if let (Some(kind), Some(status)) = coded {
            totals.add(key, kind, status, counts);
        }
        Ok(true)
    })
}

fn add_rules(
    connection: &mut Connection,
    hour: u64,
    totals: &mut Totals,
) -> Result<(), PostgresError> {
    let sql = "SELECT rule, sum(count)::bigint FROM rollup_rule WHERE hour >= $1 GROUP BY rule";
    connection.for_each(sql, &[&signed(hour)], |row| {
        totals.add_rule(row.get(0), unsigned(row.get(1)));
        Ok(true)
    })
}

fn server_rates(connection: &mut Connection, now: Timestamp) -> Result<ServerRates, PostgresError> {
    let last_hour = "SELECT server, sum(validated)::bigint, sum(rejected)::bigint FROM recent WHERE minute > $1 GROUP BY server";
    let week = "SELECT server, sum(validated)::bigint, sum(rejected)::bigint FROM rollup
                WHERE hour >= $1 AND server IS NOT NULL GROUP BY server";
    let hour = (now.as_millis() / HOUR_MILLIS).saturating_sub(WEEK_HOURS);
    let mut read = |sql: &str, from: u64| -> Result<HashMap<String, Rates>, PostgresError> {
        let rows = connection.query(sql, &[&signed(from)])?;
        let rates = |row: &tokio_postgres::Row| Rates {
            validated: unsigned(row.get(1)),
            rejected: unsigned(row.get(2)),
        };
        Ok(rows.iter().map(|row| (row.get(0), rates(row))).collect())
    };
    Ok(ServerRates {
        last_hour: read(last_hour, minute_an_hour_ago(now))?,
        week: read(week, hour)?,
    })
}
