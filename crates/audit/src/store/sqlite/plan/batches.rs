//! `Batches`: the batches themselves, with the records of a time.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, params};

use super::condition_cursor::BatchPosition;
use crate::store::sqlite::packed::{LONGEST, blob_of, damaged, unpack_seqs, unpack_times};

/// The batches themselves, with the records of a time.
pub(super) struct Batches<'c> {
    connection: &'c Connection,
    times: Range<u64>,
    low: u64,
    at: BatchPosition<Zone>,
}

/// The times and the places of a batch.
struct Zone {
    least: u64,
    greatest: u64,
    seqs: Vec<u8>,
}

impl<'c> Batches<'c> {
    /// Nothing before `low` is wanted.
    pub(super) fn new(connection: &'c Connection, times: Range<u64>, low: u64) -> Self {
        Self {
            connection,
            times,
            low,
            at: BatchPosition::Start,
        }
    }

    pub(super) fn seek(&mut self, bound: u64) -> rusqlite::Result<Option<u64>> {
        if self.at.is_behind(bound) {
            self.at = BatchPosition::new(self.find(bound)?);
        }
        Ok(self.at.batch())
    }

    fn find(&self, bound: u64) -> rusqlite::Result<Option<(u64, Zone)>> {
        let sql = "SELECT last, least, greatest, iif(length(seqs) <= ?5, seqs, NULL) FROM ix.batch
                   WHERE last BETWEEN ?1 AND ?2 AND greatest >= ?3 AND least < ?4 ORDER BY last DESC LIMIT 1";
        let values = params![self.low, bound, self.times.start, self.times.end, LONGEST];
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row(values, |row| {
            let zone = Zone {
                least: row.get(1)?,
                greatest: row.get(2)?,
                seqs: blob_of(row, 3)?.to_vec(),
            };
            Ok((row.get(0)?, zone))
        });
        found.optional()
    }

    pub(super) fn seqs(&self, last: u64) -> rusqlite::Result<Vec<u64>> {
        let BatchPosition::Batch(_, zone) = &self.at else {
            return Ok(Vec::new());
        };
        let mut seqs = unpack_seqs(&zone.seqs, last)?;
        if zone.least < self.times.start || zone.greatest >= self.times.end {
            let sql = "SELECT iif(length(times) <= ?2, times, NULL) FROM ix.batch WHERE last = ?1";
            let mut statement = self.connection.prepare_cached(sql)?;
            let times = statement
                .query_row(params![last, LONGEST], |row| unpack_times(blob_of(row, 0)?))?;
            if times.len() != seqs.len() {
                return Err(damaged());
            }
            let mut times = times.iter();
            seqs.retain(|_| times.next().is_some_and(|at| self.times.contains(at)));
        }
        Ok(seqs)
    }
}
