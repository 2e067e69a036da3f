//! Answers from the store: a page, one record, what came after a place.

mod follow;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connection::Connection;
use super::days::{self, Days, numbers};
use super::error::PostgresError;
use super::plan::{Plan, Range, is_exact};
use super::value::{Uuid, digest, signed, unsigned};
use crate::id::Ulid;
use crate::query::{Filter, Query};
use crate::record::body::decode;
use crate::store::matches::Matches;
use crate::store::{Page, StoredRecord};
use crate::time::Timestamp;

pub(super) use follow::{after, newest};

const ROW: &str =
    "SELECT a.seq, c.chain_id, a.n, a.body, a.hash FROM activity a JOIN chain c ON c.id = a.chain";
const MINUTE_MILLIS: u64 = 60_000;

/// A page of matching records, newest first.
pub(super) fn list(connection: &mut Connection, query: &Query) -> Result<Page, PostgresError> {
    let mut matches = Matches::for_page(query.limit);
    let before = query.cursor.map_or(i64::MAX as u64, |cursor| cursor.before);
    let plan = Plan::new(&query.filter);
    let days = Days::read(connection)?;
    for range in ranges(connection, &query.filter, days.counted, before)? {
        fill(
            &mut matches,
            connection,
            &plan,
            (&query.filter, &days),
            range,
        )?;
    }
    let total = query
        .total
        .then(|| count(connection, &query.filter))
        .transpose()?;
    Ok(matches.into_page(query.limit, total))
}

/// The stretches of the store that may hold records of the filter's time, newest first.
fn ranges(
    connection: &mut Connection,
    filter: &Filter,
    counted: u64,
    before: u64,
) -> Result<Vec<Range>, PostgresError> {
    if filter.since.is_none() && filter.until.is_none() {
        return Ok(vec![Range { from: 0, before }]);
    }
    let sql = "SELECT (SELECT min(low) FROM span WHERE minute >= $1), (SELECT max(high) FROM span WHERE minute <= $2)";
    let since = minute(filter.since, 0);
    let until = minute(filter.until, i64::MAX);
    let row = connection.first(sql, &[&since, &until])?;
    let row = row.ok_or(PostgresError::Value("no span"))?;
    let (low, high): (Option<i64>, Option<i64>) = (row.get(0), row.get(1));
    let from = low.map_or(counted + 1, unsigned);
    // One statement: a scan that finds nothing in its range reads all records of the part that leads, because a B-tree of
    // PostgreSQL before 18 does not stop at the lower end of a row comparison.
    if filter.until.is_none() {
        return Ok(vec![Range { from, before }]);
    }
    let newest = Range {
        from: from.max(counted + 1),
        before,
    };
    let older = Range {
        from,
        before: before.min(counted + 1).min(high.map_or(0, unsigned) + 1),
    };
    let ranges = [newest, older].into_iter();
    Ok(ranges.filter(|range| range.from < range.before).collect())
}

fn minute(time: Option<Timestamp>, otherwise: i64) -> i64 {
    time.map_or(otherwise, |time| signed(time.as_millis() / MINUTE_MILLIS))
}

fn count(connection: &mut Connection, filter: &Filter) -> Result<u64, PostgresError> {
    if is_exact(filter) {
        let (sql, values) = Plan::count(filter);
        let values: Vec<_> = values
            .iter()
            .map(|value| &**value as &(dyn ToSql + Sync))
            .collect();
        let row = connection.first(&sql, &values)?;
        return Ok(row.map_or(0, |row| unsigned(row.get(0))));
    }
    let mut total = 0;
    connection.for_each(&format!("{ROW} ORDER BY a.seq"), &[], |row| {
        let record = stored(row);
        total += u64::from(record.is_some_and(|record| filter.matches(&record.record)));
        Ok(true)
    })?;
    Ok(total)
}

/// Asks the newest days first, and older ones only for as long as they may hold something newer than what was found.
fn fill(
    matches: &mut Matches,
    connection: &mut Connection,
    plan: &Plan,
    (filter, days): (&Filter, &Days),
    range: Range,
) -> Result<(), PostgresError> {
    let known = matches.records.len();
    for step in days.newest_first(range.from, range.before) {
        let newest = step.iter().map(|day| day.high).max().unwrap_or_default();
        let oldest_found = matches.records.get(matches.wanted - 1);
        let last = oldest_found.or(matches.records.last());
        if matches.is_full() && last.is_some_and(|record| record.seq > newest) {
            break;
        }
        let mut found = Matches::new(matches.wanted - known, matches.max_bytes);
        fill_from(&mut found, connection, plan, filter, &numbers(&step), range)?;
        merge(matches, found, known);
    }
    Ok(())
}

/// Takes in what another step found. Days may overlap, so the two are mixed.
fn merge(matches: &mut Matches, found: Matches, known: usize) {
    matches.unreadable += found.unreadable;
    matches.bytes += found.bytes;
    matches.records.extend(found.records);
    matches.records[known..].sort_by_key(|record| std::cmp::Reverse(record.seq));
    matches.records.truncate(matches.wanted);
}

fn fill_from(
    matches: &mut Matches,
    connection: &mut Connection,
    plan: &Plan,
    filter: &Filter,
    days: &[i32],
    mut range: Range,
) -> Result<(), PostgresError> {
    while !matches.is_full() && range.from < range.before {
        let limit = matches.wanted - matches.records.len();
        let (sql, mut values, bounds) = plan.select(days, range, limit);
        values.extend(bounds.iter().map(|bound| bound as &(dyn ToSql + Sync)));
        let (mut seen, mut last) = (0, range.from);
        connection.for_each(&sql, &values, |row| {
            seen += 1;
            last = unsigned(row.get(0));
            push(matches, row, filter);
            Ok(!matches.is_full())
        })?;
        if seen < limit {
            break;
        }
        range.before = last;
    }
    Ok(())
}

fn push(matches: &mut Matches, row: &Row, filter: &Filter) {
    matches.push(stored(row), row.get::<_, &[u8]>(3).len(), filter);
}

/// One record by its id, with the hash before it.
pub(super) fn show(
    connection: &mut Connection,
    id: Ulid,
) -> Result<Option<StoredRecord>, PostgresError> {
    // An id has the time it was made; its record was sent soon after. The other days are asked only if it was not.
    let day = days::of(id.timestamp());
    let near = format!("{ROW} WHERE a.day IN ($2, $2 + 1) AND a.id = $1 LIMIT 1");
    let row = match connection.first(&near, &[&Uuid(id), &day])? {
        None => connection.first(&format!("{ROW} WHERE a.id = $1 LIMIT 1"), &[&Uuid(id)])?,
        row => row,
    };
    let Some(mut record) = row.as_ref().and_then(stored) else {
        return Ok(None);
    };
    if record.n > 0 {
        let sql = "SELECT a.hash FROM activity a JOIN chain c ON c.id = a.chain WHERE c.chain_id = $1 AND a.n = $2";
        let before = signed(record.n - 1);
        let row = connection.first(sql, &[&record.chain_id.to_string(), &before])?;
        record.prev = row.and_then(|row| digest(&row, 0));
    }
    Ok(Some(record))
}

/// The place before the first record worth looking at for this filter, and the last place below the horizon.
pub(super) fn bounds(
    connection: &mut Connection,
    filter: &Filter,
) -> Result<(u64, u64), PostgresError> {
    let last = newest(connection)?;
    let counted = Days::read(connection)?.counted;
    let ranges = ranges(connection, filter, counted, i64::MAX as u64)?;
    let first = ranges.iter().map(|range| range.from).min();
    Ok((first.map_or(last, |first| first.saturating_sub(1)), last))
}

/// A row as a record; `None` if it cannot be decoded.
fn stored(row: &Row) -> Option<StoredRecord> {
    Some(StoredRecord {
        record: decode(row.get(3)).ok()?,
        chain_id: row.get::<_, &str>(1).parse().ok()?,
        seq: unsigned(row.get(0)),
        n: unsigned(row.get(2)),
        prev: None,
        hash: digest(row, 4)?,
    })
}
