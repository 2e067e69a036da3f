//! `IndexCheck`: recomputes what the index must say of the records, and what its roll-ups add up to, and compares. Part of `verify`.
//!
//! The index is not in the order of the records. Both sides are added up instead, as hashes under a key that is new each time, so
//! that no other content of the index has the same sum.

use std::collections::HashMap;
use std::hash::RandomState;

use rusqlite::Connection;

use super::indexer::{Names, Sums};
use super::lookup;
use super::read::mark;
use crate::record::Record;
use crate::record::body::decode;
use crate::record::indexed_fields::IndexedFields;

mod fingerprints;
mod run_times;

use fingerprints::Fingerprints;
use run_times::RunTimes;

/// Places that share a sum, as a power of two.
const BLOCK_BITS: u32 = 12;
/// Names remembered.
const MAX_CACHED: usize = 20_000;

/// Compares records with the index.
pub(super) struct IndexCheck<'c> {
    connection: &'c Connection,
    known: IndexedNames<'c>,
    /// What the records seen so far add up to: in the roll-ups, and in everything else.
    pub(super) sums: Sums,
    expected: Fingerprints,
    run_times: RunTimes,
}

impl<'c> IndexCheck<'c> {
    /// Call it before anything else is read: the index must not be newer than the records.
    pub(super) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let mark = mark(connection)?;
        let first = "SELECT ifnull(min(seq), 0) FROM activity";
        let first: u64 = connection.query_row(first, [], |row| row.get(0))?;
        Ok(Self {
            connection,
            known: IndexedNames::new(connection),
            sums: Sums::default(),
            expected: Fingerprints::new(RandomState::new(), BLOCK_BITS, first..=mark),
            run_times: RunTimes::new(connection)?,
        })
    }

    /// Takes in a record.
    pub(super) fn add(&mut self, seq: u64, record: &Record) -> rusqlite::Result<()> {
        if !self.expected.places.contains(&seq) {
            return Ok(());
        }
        self.run_times.add(seq, record.id());
        let record = IndexedFields::from(record);
        let codes = self.expected.record(seq, &record, &mut self.known)?;
        self.sums.add(seq, &record, &codes);
        Ok(())
    }

    /// The first record of which the index says something else. Ask when every record has been taken in.
    pub(super) fn first_wrong(&mut self) -> rusqlite::Result<Option<u64>> {
        let stored = self.expected.of_index(self.connection)?;
        let Some(block) = self.expected.first_difference(&stored) else {
            return Ok(self.run_times.first_wrong);
        };
        let (first, mark) = (self.expected.places.start(), self.expected.places.end());
        let low = block << BLOCK_BITS;
        let high = low | ((1 << BLOCK_BITS) - 1);
        let places = low.max(*first)..=high.min(*mark);
        let mut expected = Fingerprints::new(self.expected.key.clone(), 0, places);
        let sql = "SELECT seq, body FROM activity WHERE seq BETWEEN ?1 AND ?2";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([expected.places.start(), expected.places.end()])?;
        while let Some(row) = rows.next()? {
            if let Ok(record) = decode(row.get_ref(1)?.as_bytes().unwrap_or_default()) {
                expected.record(row.get(0)?, &IndexedFields::from(&record), &mut self.known)?;
            }
        }
        let stored = expected.of_index(self.connection)?;
        Ok(expected.first_difference(&stored).or(Some(low)))
    }
}

/// Names as the index has them.
struct IndexedNames<'c> {
    connection: &'c Connection,
    names: HashMap<String, i64>,
    /// One of those asked for was not there.
    is_missing: bool,
}

impl<'c> IndexedNames<'c> {
    fn new(connection: &'c Connection) -> Self {
        let names = HashMap::new();
        Self {
            connection,
            names,
            is_missing: false,
        }
    }

    fn found(&mut self, id: Option<i64>) -> i64 {
        self.is_missing |= id.is_none();
        id.unwrap_or_default()
    }
}

impl Names for IndexedNames<'_> {
    fn name(&mut self, text: &str) -> rusqlite::Result<i64> {
        if let Some(id) = self.names.get(text) {
            return Ok(*id);
        }
        let id = lookup::name(self.connection, text)?;
        if let Some(id) = id
            && self.names.len() < MAX_CACHED
        {
            self.names.insert(text.to_owned(), id);
        }
        Ok(self.found(id))
    }

    fn place(&mut self, server: i64, tool: i64) -> rusqlite::Result<i64> {
        let id = lookup::place(self.connection, server, tool)?;
        Ok(self.found(id))
    }
}
