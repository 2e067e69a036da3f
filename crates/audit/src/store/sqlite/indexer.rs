//! `Indexer`: copies records from the append table to the index, a batch per transaction, and keeps the roll-up.
//!
//! Everything a batch derives is committed with the place it reached, so each record is counted once whatever happens. Any process
//! may index any record. A record that cannot be decoded is passed over: naming it is the verifier's job.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::transaction::{Transaction, immediate};
use crate::record::body::decode;
use crate::record::indexed_fields::IndexedFields;
use crate::store::StoreError;

mod codes;
mod postings;
mod runs;
mod sums;

pub(super) use codes::{Codes, Names, keys};
use postings::Postings;
pub(super) use sums::Sums;

/// Records per transaction.
pub(super) const BATCH: usize = 2000;
/// Names remembered; a server that invents tool names must not fill the memory.
const MAX_CACHED: usize = 20_000;

/// Copies records to the index.
pub(super) struct Indexer {
    main: Connection,
    index: Connection,
    names: HashMap<String, i64>,
    places: HashMap<(i64, i64), i64>,
}

impl Indexer {
    pub(super) fn new(main: Connection, index: Connection) -> Self {
        Self {
            main,
            index,
            names: HashMap::new(),
            places: HashMap::new(),
        }
    }

    pub(super) fn index(&self) -> &Connection {
        &self.index
    }

    pub(super) fn main(&self) -> &Connection {
        &self.main
    }

    /// Indexes up to [`BATCH`] records. Gives how many rows it took, and the place reached.
    pub(super) fn batch(&mut self) -> Result<(usize, u64), StoreError> {
        if self.names.len() + self.places.len() > MAX_CACHED {
            self.forget();
        }
        let result = self.try_batch();
        if result.is_err() {
            // The transaction is gone, and with it names that were new in it.
            self.forget();
        }
        result
    }

    fn forget(&mut self) {
        self.names.clear();
        self.places.clear();
    }

    fn try_batch(&mut self) -> Result<(usize, u64), StoreError> {
        let Self {
            main,
            index,
            names,
            places,
        } = self;
        let mark: u64 = mark(index).map_err(StoreError::Read)?;
        let behind: bool = main
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM activity WHERE seq > ?1)")
            .and_then(|mut statement| statement.query_row([mark], |row| row.get(0)))
            .map_err(StoreError::Read)?;
        if !behind {
            return Ok((0, mark));
        }
        let transaction = immediate(index)?;
        let mut dictionary = Dictionary {
            transaction: &transaction,
            names,
            places,
        };
        let (count, reached) = copy(main, &mut dictionary).map_err(StoreError::Write)?;
        transaction.commit().map_err(StoreError::Write)?;
        Ok((count, reached))
    }
}

/// The last record indexed.
pub(super) fn mark(index: &Connection) -> rusqlite::Result<u64> {
    index
        .prepare_cached("SELECT seq FROM state")?
        .query_row([], |row| row.get(0))
}

fn copy(main: &Connection, dictionary: &mut Dictionary<'_>) -> rusqlite::Result<(usize, u64)> {
    let transaction = dictionary.transaction;
    let mut reached = mark(transaction)?;
    let mut rows =
        main.prepare_cached("SELECT seq, body FROM activity WHERE seq > ?1 ORDER BY seq LIMIT ?2")?;
    let mut rows = rows.query(params![reached, BATCH])?;
    let mut postings = Postings::default();
    let mut sums = Sums::default();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        reached = row.get(0)?;
        count += 1;
        let body = row.get_ref(1)?.as_bytes().unwrap_or_default();
        let decoded;
        let record = if let Some(record) = IndexedFields::plain(body) {
            record
        } else if let Ok(record) = decode(body) {
            decoded = record;
            IndexedFields::from(&decoded)
        } else {
            tracing::error!(
                seq = reached,
                "a stored record cannot be decoded; run: activity verify"
            );
            continue;
        };
        let codes = Codes::new(dictionary, &record)?;
        sums.add(reached, &record, &codes);
        postings.add(reached, &record, &codes);
    }
    postings.write(transaction)?;
    sums.write(transaction)?;
    transaction
        .prepare_cached("UPDATE state SET seq = ?1")?
        .execute([reached])?;
    Ok((count, reached))
}

/// Gives names their integers, making new ones as they come.
struct Dictionary<'t> {
    transaction: &'t Transaction<'t>,
    names: &'t mut HashMap<String, i64>,
    places: &'t mut HashMap<(i64, i64), i64>,
}

impl Names for Dictionary<'_> {
    fn name(&mut self, text: &str) -> rusqlite::Result<i64> {
        if let Some(id) = self.names.get(text) {
            return Ok(*id);
        }
        self.transaction
            .prepare_cached("INSERT OR IGNORE INTO name(text) VALUES (?1)")?
            .execute([text])?;
        let id = self
            .transaction
            .prepare_cached("SELECT id FROM name WHERE text = ?1")?
            .query_row([text], |row| row.get(0))?;
        self.names.insert(text.to_owned(), id);
        Ok(id)
    }

    fn place(&mut self, server: i64, tool: i64) -> rusqlite::Result<i64> {
        if let Some(id) = self.places.get(&(server, tool)) {
            return Ok(*id);
        }
        let pair = [server, tool];
        self.transaction
            .prepare_cached("INSERT OR IGNORE INTO place(server, tool) VALUES (?1, ?2)")?
            .execute(pair)?;
        let sql = "SELECT id FROM place WHERE server = ?1 AND tool = ?2";
        let id = self
            .transaction
            .prepare_cached(sql)?
            .query_row(pair, |row| row.get(0))?;
        self.places.insert((server, tool), id);
        Ok(id)
    }
}

/// The last record there is; 0 in an empty store.
pub(super) fn last(main: &Connection) -> rusqlite::Result<u64> {
    main.prepare_cached("SELECT ifnull(max(seq), 0) FROM activity")?
        .query_row([], |row| row.get(0))
}

/// The first record there is; 0 in an empty store.
pub(super) fn first(main: &Connection) -> rusqlite::Result<u64> {
    main.prepare_cached("SELECT ifnull(min(seq), 0) FROM activity")?
        .query_row([], |row| row.get(0))
}
