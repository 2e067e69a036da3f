//! Runs of keys: each batch adds one, and runs of like size are merged into larger ones.
//!
//! So a key is written again only a few times, always in sorted order, and however many records there are, a reader looks into
//! a few runs. Runs lie in the order of the store, the newest with the greatest id, and are never larger than those before. An id
//! has the time at which it was made, so a reader that looks for one passes over the runs of other times.

use rusqlite::{Connection, params};

use crate::store::sqlite::packed::{CHUNK, Key, LONGEST, blob_of, pack_keys, unpack_keys};
use crate::store::sqlite::transaction::Transaction;
use crate::time::Timestamp;

/// Runs of one level that are merged into one of the next.
const MERGED: usize = 6;
/// Keys in a run at most: merging a larger one would keep the index from its other work.
const LARGEST: u64 = 1 << 20;
/// Rows read at a time while merging.
const ROWS: usize = 16;

/// The times of the ids of some records, in milliseconds: from the oldest to the newest.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdTimes {
    oldest: u64,
    newest: u64,
}

impl Default for IdTimes {
    /// Of no records.
    fn default() -> Self {
        Self {
            oldest: i64::MAX as u64,
            newest: 0,
        }
    }
}

impl IdTimes {
    pub(super) fn add(&mut self, time: Timestamp) {
        let time = time.as_millis();
        *self = self.joined(Self {
            oldest: time,
            newest: time,
        });
    }

    fn joined(self, other: Self) -> Self {
        Self {
            oldest: self.oldest.min(other.oldest),
            newest: self.newest.max(other.newest),
        }
    }
}

/// Adds the keys of a batch that ends at `last`.
pub(super) fn add(
    transaction: &Transaction<'_>,
    mut keys: Vec<Key>,
    last: u64,
    id_times: IdTimes,
) -> rusqlite::Result<()> {
    keys.sort_unstable();
    keys.dedup();
    let newest: Option<i64> = transaction
        .prepare_cached("SELECT max(id) FROM run")?
        .query_row([], |row| row.get(0))?;
    let mut run = Run::new(transaction, newest.unwrap_or(0).saturating_add(1));
    for key in keys {
        run.push(key)?;
    }
    run.finish(0, last, id_times)?;
    while merge(transaction)? {}
    Ok(())
}

/// A run in the index.
struct StoredRun {
    id: i64,
    level: i64,
    last: u64,
    count: u64,
    id_times: IdTimes,
}

/// Merges the newest runs if they are of one level and enough. Says whether it did.
fn merge(transaction: &Transaction<'_>) -> rusqlite::Result<bool> {
    let sql =
        "SELECT id, level, last, count, oldest_id, newest_id FROM run ORDER BY id DESC LIMIT ?1";
    let mut statement = transaction.prepare_cached(sql)?;
    let found = statement.query_map([MERGED], |row| {
        Ok(StoredRun {
            id: row.get(0)?,
            level: row.get(1)?,
            last: row.get(2)?,
            count: row.get(3)?,
            id_times: IdTimes {
                oldest: row.get(4)?,
                newest: row.get(5)?,
            },
        })
    })?;
    let found: Vec<StoredRun> = found.collect::<Result<_, _>>()?;
    let count = found
        .iter()
        .fold(0, |sum: u64, run| sum.saturating_add(run.count));
    let Some(newest) = found.first() else {
        return Ok(false);
    };
    let is_one_level = found.iter().all(|run| run.level == newest.level);
    if found.len() < MERGED || !is_one_level || count > LARGEST {
        return Ok(false);
    }
    let mut sources: Vec<Source<'_>> = found
        .iter()
        .map(|run| Source::new(transaction, run.id))
        .collect();
    let mut run = Run::new(transaction, newest.id.saturating_add(1));
    while let Some(key) = least(&mut sources)? {
        run.push(key)?;
    }
    let id_times = found.iter().map(|run| run.id_times);
    let id_times = id_times.fold(IdTimes::default(), IdTimes::joined);
    run.finish(newest.level.saturating_add(1), newest.last, id_times)?;
    for StoredRun { id, .. } in found {
        transaction
            .prepare_cached("DELETE FROM key WHERE run = ?1")?
            .execute([id])?;
        transaction
            .prepare_cached("DELETE FROM run WHERE id = ?1")?
            .execute([id])?;
    }
    Ok(true)
}

/// Takes the least key that any source has next.
fn least(sources: &mut [Source<'_>]) -> rusqlite::Result<Option<Key>> {
    let mut best: Option<(Key, usize)> = None;
    for (index, source) in sources.iter_mut().enumerate() {
        let Some(key) = source.peek()? else { continue };
        if best.is_none_or(|(least, _)| key < least) {
            best = Some((key, index));
        }
    }
    Ok(best.map(|(key, index)| {
        sources[index].at += 1;
        key
    }))
}

/// The keys of a run in their order, a few rows at a time.
struct Source<'t> {
    connection: &'t Connection,
    run: i64,
    keys: Vec<Key>,
    at: usize,
    is_done: bool,
}

impl<'t> Source<'t> {
    fn new(connection: &'t Connection, run: i64) -> Self {
        Self {
            connection,
            run,
            keys: Vec::new(),
            at: 0,
            is_done: false,
        }
    }

    fn peek(&mut self) -> rusqlite::Result<Option<Key>> {
        if self.at == self.keys.len() && !self.is_done {
            self.fill()?;
        }
        Ok(self.keys.get(self.at).copied())
    }

    fn fill(&mut self) -> rusqlite::Result<()> {
        let sql = "SELECT iif(length(keys) <= ?5, keys, NULL) FROM key
                   WHERE run = ?1 AND (hash, seq) > (?2, ?3) ORDER BY hash, seq LIMIT ?4";
        let before = self.keys.last();
        let (hash, seq) = before.map_or((-1, 0), |key| (i64::from(key.hash), key.seq));
        self.keys.clear();
        self.at = 0;
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.run, hash, seq, ROWS, LONGEST])?;
        while let Some(row) = rows.next()? {
            unpack_keys(blob_of(row, 0)?, |key| {
                self.keys.push(key);
                true
            })?;
        }
        self.is_done = self.keys.is_empty();
        Ok(())
    }
}

/// A run that is being written, in the order of its keys.
struct Run<'t> {
    connection: &'t Connection,
    id: i64,
    waiting: Vec<Key>,
    count: u64,
}

impl<'t> Run<'t> {
    fn new(connection: &'t Connection, id: i64) -> Self {
        Self {
            connection,
            id,
            waiting: Vec::with_capacity(CHUNK),
            count: 0,
        }
    }

    fn push(&mut self, key: Key) -> rusqlite::Result<()> {
        self.waiting.push(key);
        if self.waiting.len() == CHUNK {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> rusqlite::Result<()> {
        if let Some(first) = self.waiting.first() {
            self.connection
                .prepare_cached("INSERT INTO key VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![
                    self.id,
                    first.hash,
                    first.seq,
                    pack_keys(&self.waiting)
                ])?;
        }
        self.count += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    fn finish(mut self, level: i64, last: u64, id_times: IdTimes) -> rusqlite::Result<()> {
        self.flush()?;
        self.connection
            .prepare_cached("INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
            .execute(params![
                self.id,
                level,
                last,
                self.count,
                id_times.oldest,
                id_times.newest
            ])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
