//! One record of the store, by its id or its place.

use rusqlite::{Connection, OptionalExtension, params};

use super::keys::Candidates;
use super::read::{ROW, mark, stored};
use crate::digest::Digest;
use crate::id::Ulid;
use crate::store::StoredRecord;

/// How far `show` looks back for the record before: another process may have written in between.
const LOOK_BACK: u64 = 10_000;

/// One record by its id, with the hash before it.
pub(crate) fn show(connection: &Connection, id: Ulid) -> rusqlite::Result<Option<StoredRecord>> {
    show_in(&*connection.unchecked_transaction()?, id)
}

/// As [`show`], on a connection that is in a transaction.
pub(super) fn show_in(snapshot: &Connection, id: Ulid) -> rusqlite::Result<Option<StoredRecord>> {
    let record = match indexed_with(snapshot, id)? {
        None => newest_with(snapshot, id)?,
        record => record,
    };
    record.map(|record| with_prev(snapshot, record)).transpose()
}

pub(super) fn by_seq(connection: &Connection, seq: u64) -> rusqlite::Result<Option<StoredRecord>> {
    let mut statement = connection.prepare_cached(&format!("{ROW} WHERE a.seq = ?1"))?;
    let mut rows = statement.query([seq])?;
    rows.next()?.map_or(Ok(None), stored)
}

fn indexed_with(connection: &Connection, id: Ulid) -> rusqlite::Result<Option<StoredRecord>> {
    let mut candidates = Candidates::with_id(connection, id)?;
    let mut bound = i64::MAX as u64;
    while let Some(seq) = candidates.at_most(bound)? {
        let record = by_seq(connection, seq)?;
        if record
            .as_ref()
            .is_some_and(|stored| stored.record.id() == id)
        {
            return Ok(record);
        }
        bound = seq.saturating_sub(1);
    }
    Ok(None)
}

fn newest_with(connection: &Connection, id: Ulid) -> rusqlite::Result<Option<StoredRecord>> {
    let mark = mark(connection)?;
    let mut statement =
        connection.prepare_cached(&format!("{ROW} WHERE a.seq > ?1 ORDER BY a.seq DESC"))?;
    let mut rows = statement.query([mark])?;
    while let Some(row) = rows.next()? {
        if let Some(record) = stored(row)?.filter(|record| record.record.id() == id) {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

fn with_prev(connection: &Connection, mut record: StoredRecord) -> rusqlite::Result<StoredRecord> {
    if record.n == 0 {
        return Ok(record);
    }
    let sql = "SELECT a.hash FROM activity a JOIN chain c ON c.id = a.chain
               WHERE a.seq < ?1 AND a.seq >= ?2 AND a.n = ?3 AND c.chain_id = ?4 ORDER BY a.seq DESC LIMIT 1";
    let from = record.seq.saturating_sub(LOOK_BACK);
    let hash: Option<Vec<u8>> = connection
        .query_row(
            sql,
            params![record.seq, from, record.n - 1, record.chain_id.to_string()],
            |row| row.get(0),
        )
        .optional()?;
    record.prev = hash.and_then(|hash| Digest::from_slice(&hash));
    Ok(record)
}
