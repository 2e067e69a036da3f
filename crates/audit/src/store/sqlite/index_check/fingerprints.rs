//! `Fingerprints`: sums of what is said about records, from the records or from the index. Part of `verify`.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;

use rusqlite::{Connection, params};

use super::IndexedNames;
use crate::record::indexed_fields::IndexedFields;
use crate::store::sqlite::index::epoch;
use crate::store::sqlite::indexer::{Codes, keys};
use crate::store::sqlite::packed::{
    LONGEST, blob_of, damaged, unpack_keys, unpack_seqs, unpack_times,
};

/// What is said about a record.
#[derive(Clone, Copy, Hash)]
enum Statement {
    Term(i64),
    Key(u32),
    Time(u64),
    /// A name of it is not in the index.
    NoName,
}

/// Sums of what is said about records, by stretches of the store.
pub(super) struct Fingerprints {
    pub(super) key: RandomState,
    bits: u32,
    pub(super) places: RangeInclusive<u64>,
    sums: BTreeMap<u64, u64>,
}

impl Fingerprints {
    pub(super) fn new(key: RandomState, bits: u32, places: RangeInclusive<u64>) -> Self {
        let sums = BTreeMap::new();
        Self {
            key,
            bits,
            places,
            sums,
        }
    }

    fn add(&mut self, seq: u64, statement: Statement) {
        if self.places.contains(&seq) {
            let sum = self.sums.entry(seq >> self.bits).or_default();
            *sum = sum.wrapping_add(self.key.hash_one((seq, statement)));
        }
    }

    /// What the index must say of a record.
    pub(super) fn record(
        &mut self,
        seq: u64,
        record: &IndexedFields<'_>,
        known: &mut IndexedNames<'_>,
    ) -> rusqlite::Result<Codes> {
        let codes = Codes::new(known, record)?;
        codes.each_term(record, |term| self.add(seq, Statement::Term(term)));
        for key in keys(record, seq) {
            self.add(seq, Statement::Key(key.hash));
        }
        self.add(seq, Statement::Time(record.timestamp.as_millis()));
        if std::mem::take(&mut known.is_missing) {
            self.add(seq, Statement::NoName);
        }
        Ok(codes)
    }

    /// What the index says of the same places, as far as a query would come upon it.
    pub(super) fn of_index(&self, connection: &Connection) -> rusqlite::Result<Self> {
        let mut stored = Self::new(self.key.clone(), self.bits, self.places.clone());
        stored.postings(connection)?;
        stored.batches(connection)?;
        stored.keys(connection)?;
        Ok(stored)
    }

    fn postings(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "SELECT p.last, iif(length(p.seqs) <= ?1, p.seqs, NULL), p.term, p.epoch
                   FROM ix.epoch e CROSS JOIN ix.posting p ON p.epoch = e.id";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([LONGEST])?;
        while let Some(row) = rows.next()? {
            let (last, term) = (row.get(0)?, Statement::Term(row.get(2)?));
            if row.get::<_, u64>(3)? != epoch(last) {
                return Err(damaged());
            }
            for seq in unpack_seqs(blob_of(row, 1)?, last)? {
                self.add(seq, term);
            }
        }
        Ok(())
    }

    fn batches(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "SELECT last, iif(length(seqs) <= ?1, seqs, NULL), iif(length(times) <= ?1, times, NULL), least, greatest
                   FROM ix.batch";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([LONGEST])?;
        while let Some(row) = rows.next()? {
            let seqs = unpack_seqs(blob_of(row, 1)?, row.get(0)?)?;
            let times = unpack_times(blob_of(row, 2)?)?;
            let is_zone = times.iter().min() == Some(&row.get(3)?)
                && times.iter().max() == Some(&row.get(4)?);
            if times.len() != seqs.len() || !is_zone {
                return Err(damaged());
            }
            for (seq, time) in seqs.into_iter().zip(times) {
                self.add(seq, Statement::Time(time));
            }
        }
        Ok(())
    }

    /// The keys of a run are those of the places after the run before it, up to its own last one.
    fn keys(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "SELECT id, last FROM ix.run ORDER BY id";
        let mut statement = connection.prepare(sql)?;
        let mut runs = statement.query([])?;
        let mut before = 0;
        while let Some(run) = runs.next()? {
            let last = run.get(1)?;
            if last <= before {
                return Err(damaged());
            }
            self.keys_of(connection, run.get(0)?, before + 1..=last)?;
            before = last;
        }
        Ok(())
    }

    fn keys_of(
        &mut self,
        connection: &Connection,
        run: i64,
        places: RangeInclusive<u64>,
    ) -> rusqlite::Result<()> {
        let sql =
            "SELECT hash, seq, iif(length(keys) <= ?1, keys, NULL) FROM ix.key WHERE run = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![LONGEST, run])?;
        while let Some(row) = rows.next()? {
            // The row is found by its first key.
            let mut first = Some((row.get(0)?, row.get(1)?));
            let mut is_found = true;
            unpack_keys(blob_of(row, 2)?, |key| {
                is_found &= first
                    .take()
                    .is_none_or(|first| first == (key.hash, key.seq));
                is_found &= places.contains(&key.seq);
                self.add(key.seq, Statement::Key(key.hash));
                is_found
            })?;
            if !is_found {
                return Err(damaged());
            }
        }
        Ok(())
    }

    pub(super) fn first_difference(&self, other: &Self) -> Option<u64> {
        let blocks = self.sums.keys().chain(other.sums.keys());
        let differs = |block: &&u64| self.sums.get(block) != other.sums.get(block);
        blocks.filter(differs).min().copied()
    }
}
