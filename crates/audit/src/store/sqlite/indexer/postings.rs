//! `Postings`: what a batch adds to `batch`, `posting` and, as a run, to `key`.
//!
//! Gathered in memory and written as one row for each value that occurs, which costs a record next to nothing.

use std::collections::BTreeMap;

use rusqlite::params;

use super::codes::{Codes, keys};
use super::runs::{self, IdTimes};
use crate::record::indexed_fields::IndexedFields;
use crate::store::sqlite::index::epoch;
use crate::store::sqlite::packed::{Key, pack_seqs, pack_times};
use crate::store::sqlite::transaction::Transaction;

/// What a batch gathers before it is written.
#[derive(Default)]
pub(super) struct Postings {
    seqs: Vec<u64>,
    times: Vec<u64>,
    terms: BTreeMap<i64, Vec<u64>>,
    keys: Vec<Key>,
    id_times: IdTimes,
}

impl Postings {
    /// Records come in the order of their places.
    pub(super) fn add(&mut self, seq: u64, record: &IndexedFields<'_>, codes: &Codes) {
        self.seqs.push(seq);
        self.times.push(record.timestamp.as_millis());
        codes.each_term(record, |term| self.terms.entry(term).or_default().push(seq));
        self.keys.extend(keys(record, seq));
        self.id_times.add(record.id.timestamp());
    }

    pub(super) fn write(self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let Some(last) = self.seqs.last().copied() else {
            return Ok(());
        };
        let least = self.times.iter().min();
        let greatest = self.times.iter().max();
        transaction
            .prepare_cached("INSERT INTO batch VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![
                last,
                least,
                greatest,
                pack_seqs(&self.seqs, last),
                pack_times(&self.times)
            ])?;
        transaction
            .prepare_cached("INSERT OR IGNORE INTO epoch VALUES (?1)")?
            .execute([epoch(last)])?;
        let mut posting =
            transaction.prepare_cached("INSERT INTO posting VALUES (?1, ?2, ?3, ?4)")?;
        for (term, seqs) in &self.terms {
            posting.execute(params![epoch(last), term, last, pack_seqs(seqs, last)])?;
        }
        runs::add(transaction, self.keys, last, self.id_times)
    }
}
