//! Answers from the store: a page, what came after a place.
//!
//! A page is the index's answer plus the few newest records that the index does not have yet, read from the append table in the
//! same snapshot. Every walk is bounded; a record that cannot be decoded is counted and passed over.

use rusqlite::{Connection, Row, params};

use super::indexer;
use super::lookup::first_place;
use super::plan::Plan;
use super::show::by_seq;
use crate::digest::Digest;
use crate::query::{Filter, Query};
use crate::record::Record;
use crate::record::body::decode;
use crate::store::matches::Matches;
use crate::store::{Page, StoredRecord, Tail};

pub(super) const ROW: &str =
    "SELECT a.seq, c.chain_id, a.n, a.body, a.hash FROM activity a JOIN chain c ON c.id = a.chain";
/// Records looked at for one [`after`], matching or not.
const LOOK: usize = 5000;
/// Bytes of records handed out by one [`after`].
const LOOK_BYTES: usize = 4 << 20;

/// A page of matching records, newest first.
pub(crate) fn list(connection: &Connection, query: &Query) -> rusqlite::Result<Page> {
    let snapshot = connection.unchecked_transaction()?;
    let mut found = Matches::for_page(query.limit);
    let total = fill(&mut found, &snapshot, query)?;
    Ok(found.into_page(query.limit, total))
}

fn fill(
    found: &mut Matches,
    connection: &Connection,
    query: &Query,
) -> rusqlite::Result<Option<u64>> {
    // The index first: its snapshot must not be newer than that of the records.
    let mark = mark(connection)?;
    let plan = Plan::new(connection, &query.filter, indexer::first(connection)?)?;
    let before = query.cursor.map_or(i64::MAX as u64, |cursor| cursor.before);
    push_tail(found, connection, &query.filter, mark, before)?;
    push_indexed(
        found,
        connection,
        &plan,
        &query.filter,
        before.min(mark + 1),
    )?;
    if !query.total {
        return Ok(None);
    }
    let mut total = count_indexed(connection, &plan, &query.filter, mark)?;
    for_each_after(connection, mark, |record| {
        total += u64::from(query.filter.matches(record));
    })?;
    Ok(Some(total))
}

/// The newest records, not indexed yet.
fn push_tail(
    found: &mut Matches,
    connection: &Connection,
    filter: &Filter,
    mark: u64,
    before: u64,
) -> rusqlite::Result<()> {
    let sql = format!("{ROW} WHERE a.seq > ?1 AND a.seq < ?2 ORDER BY a.seq DESC");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([mark, before])?;
    while !found.is_full()
        && let Some(row) = rows.next()?
    {
        push(found, row, filter)?;
    }
    Ok(())
}

/// Records the index names. Retention may have removed some of them meanwhile; then it is asked again.
fn push_indexed(
    found: &mut Matches,
    connection: &Connection,
    plan: &Plan,
    filter: &Filter,
    mut before: u64,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&format!("{ROW} WHERE a.seq = ?1"))?;
    while !found.is_full() {
        let limit = found.wanted - found.records.len();
        let seqs = plan.before(connection, before, limit)?;
        for seq in &seqs {
            if found.is_full() {
                return Ok(());
            }
            let mut rows = statement.query([seq])?;
            if let Some(row) = rows.next()? {
                push(found, row, filter)?;
            }
        }
        match seqs.last() {
            Some(last) if seqs.len() == limit => before = *last,
            _ => break,
        }
    }
    Ok(())
}

fn push(found: &mut Matches, row: &Row<'_>, filter: &Filter) -> rusqlite::Result<()> {
    let size = row.get_ref(3)?.as_bytes().map_or(0, <[u8]>::len);
    found.push(stored(row)?, size, filter);
    Ok(())
}

/// The last record indexed, as a reader with both databases sees it.
pub(super) fn mark(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT seq FROM ix.state")?
        .query_row([], |row| row.get(0))
}

fn count_indexed(
    connection: &Connection,
    plan: &Plan,
    filter: &Filter,
    mark: u64,
) -> rusqlite::Result<u64> {
    let mut count = 0;
    plan.walk(connection, mark + 1, |seqs| {
        if plan.is_exact() {
            count += seqs.len() as u64;
            return Ok(true);
        }
        for seq in seqs {
            let record = by_seq(connection, *seq)?;
            count += u64::from(record.is_some_and(|record| filter.matches(&record.record)));
        }
        Ok(true)
    })?;
    Ok(count)
}

/// Visits the records that the index does not have yet.
pub(super) fn for_each_after(
    connection: &Connection,
    mark: u64,
    mut visit: impl FnMut(&Record),
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("SELECT body FROM activity WHERE seq > ?1")?;
    let mut rows = statement.query([mark])?;
    while let Some(row) = rows.next()? {
        if let Ok(record) = decode(row.get_ref(0)?.as_bytes().unwrap_or_default()) {
            visit(&record);
        }
    }
    Ok(())
}

/// Matching records after a place, oldest first: up to `limit`, and never more than a bounded look.
pub(crate) fn after(
    connection: &Connection,
    after: u64,
    filter: &Filter,
    limit: usize,
) -> rusqlite::Result<Tail> {
    let mut statement =
        connection.prepare_cached(&format!("{ROW} WHERE a.seq > ?1 ORDER BY a.seq LIMIT ?2"))?;
    let mut rows = statement.query(params![after, LOOK])?;
    let mut found = Matches::new(limit, LOOK_BYTES);
    let (mut next, mut looked, mut more) = (after, 0, true);
    while !found.is_full() {
        let Some(row) = rows.next()? else {
            more = looked == LOOK;
            break;
        };
        looked += 1;
        next = row.get(0)?;
        push(&mut found, row, filter)?;
    }
    Ok(Tail {
        records: found.records,
        next,
        more,
        unreadable: found.unreadable,
    })
}

/// The first place worth looking at for this filter, and the last record there is.
pub(crate) fn bounds(connection: &Connection, filter: &Filter) -> rusqlite::Result<(u64, u64)> {
    let mark = mark(connection)?;
    let last = indexer::last(connection)?;
    let first = match filter.since {
        Some(since) => first_place(connection, since.as_millis())?.unwrap_or(mark + 1),
        None => 1,
    };
    Ok((first.saturating_sub(1), last))
}

/// A row as a record; `None` if it cannot be decoded.
pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<Option<StoredRecord>> {
    let record = decode(row.get_ref(3)?.as_bytes().unwrap_or_default()).ok();
    let chain_id = row
        .get_ref(1)?
        .as_str()
        .ok()
        .and_then(|text| text.parse().ok());
    let hash = row.get_ref(4)?.as_bytes().ok().and_then(Digest::from_slice);
    let (Some(record), Some(chain_id), Some(hash)) = (record, chain_id, hash) else {
        return Ok(None);
    };
    Ok(Some(StoredRecord {
        record,
        chain_id,
        seq: row.get(0)?,
        n: row.get(2)?,
        prev: None,
        hash,
    }))
}
