//! `KeyMatches`: the records that may have a key, batch by batch.

use rusqlite::Connection;

use super::condition_cursor::BatchPosition;
use crate::store::sqlite::indexer::BATCH;
use crate::store::sqlite::keys::Candidates;
use crate::store::sqlite::lookup::batch_of;
use crate::store::sqlite::packed::damaged;

/// The records that may have a key.
pub(super) struct KeyMatches<'c> {
    connection: &'c Connection,
    candidates: Candidates<'c>,
    /// A candidate that was met and belongs to an older batch.
    ahead: Option<u64>,
    low: u64,
    at: BatchPosition<Vec<u64>>,
}

impl<'c> KeyMatches<'c> {
    /// Nothing before `low` is wanted.
    pub(super) fn new(connection: &'c Connection, hash: u32, low: u64) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            candidates: Candidates::new(connection, hash)?,
            ahead: None,
            low,
            at: BatchPosition::Start,
        })
    }

    pub(super) fn seqs(&self) -> Vec<u64> {
        match &self.at {
            BatchPosition::Batch(_, seqs) => seqs.clone(),
            BatchPosition::Start | BatchPosition::End => Vec::new(),
        }
    }

    pub(super) fn seek(&mut self, bound: u64) -> rusqlite::Result<Option<u64>> {
        if self.at.is_behind(bound) {
            self.at = BatchPosition::new(self.find(bound)?);
        }
        Ok(self.at.batch())
    }

    fn find(&mut self, bound: u64) -> rusqlite::Result<Option<(u64, Vec<u64>)>> {
        let Some(mut seq) = self.candidate(bound)? else {
            return Ok(None);
        };
        let last = batch_of(self.connection, seq)?.ok_or_else(damaged)?;
        let mut seqs = vec![seq];
        while let Some(before) = seq.checked_sub(1)
            && let Some(next) = self.candidate(before)?
        {
            if batch_of(self.connection, next)? != Some(last) {
                self.ahead = Some(next);
                break;
            }
            if seqs.len() == BATCH {
                return Err(damaged());
            }
            seqs.push(next);
            seq = next;
        }
        Ok(Some((last, seqs)))
    }

    fn candidate(&mut self, bound: u64) -> rusqlite::Result<Option<u64>> {
        let next = match self.ahead.take() {
            Some(seq) if seq <= bound => Some(seq),
            _ => self.candidates.at_most(bound)?,
        };
        Ok(next.filter(|seq| *seq >= self.low))
    }
}
