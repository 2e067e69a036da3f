//! `ConditionCursor`: what one condition finds, batch by batch, newest first.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Condition;
use super::batches::Batches;
use super::key_matches::KeyMatches;
use crate::store::sqlite::index::epoch;
use crate::store::sqlite::packed::{LONGEST, blob_of, unpack_seqs};

/// A condition that is matched batch by batch.
pub(super) enum ConditionCursor<'c> {
    Terms(Vec<Postings<'c>>),
    Key(KeyMatches<'c>),
    Times(Batches<'c>),
}

/// The batch that a cursor is at, with its matches there.
pub(super) enum BatchPosition<T> {
    Start,
    Batch(u64, T),
    End,
}

impl<T> BatchPosition<T> {
    pub(super) fn new(found: Option<(u64, T)>) -> Self {
        found.map_or(Self::End, |(last, found)| Self::Batch(last, found))
    }

    /// Must it be looked for anew? It is asked for ever older batches.
    pub(super) fn is_behind(&self, bound: u64) -> bool {
        match self {
            Self::Start => true,
            Self::Batch(last, _) => *last > bound,
            Self::End => false,
        }
    }

    pub(super) fn batch(&self) -> Option<u64> {
        match self {
            Self::Batch(last, _) => Some(*last),
            Self::Start | Self::End => None,
        }
    }
}

impl<'c> ConditionCursor<'c> {
    /// Nothing before `low` is wanted.
    pub(super) fn new(
        connection: &'c Connection,
        condition: &Condition,
        low: u64,
    ) -> rusqlite::Result<Self> {
        Ok(match condition {
            Condition::Terms(terms) => {
                let postings = terms.iter().map(|term| Postings {
                    connection,
                    term: *term,
                    low,
                    at: BatchPosition::Start,
                });
                Self::Terms(postings.collect())
            }
            Condition::Key(hash) => Self::Key(KeyMatches::new(connection, *hash, low)?),
            Condition::Times(since, until) => {
                Self::Times(Batches::new(connection, *since..*until, low))
            }
        })
    }

    /// The newest batch up to `bound` that has something.
    pub(super) fn seek(&mut self, bound: u64) -> rusqlite::Result<Option<u64>> {
        match self {
            Self::Terms(terms) => {
                let mut newest = None;
                for postings in terms {
                    newest = newest.max(postings.seek(bound)?);
                }
                Ok(newest)
            }
            Self::Key(keyed) => keyed.seek(bound),
            Self::Times(batches) => batches.seek(bound),
        }
    }

    /// The places in a batch that was found, newest first.
    pub(super) fn seqs(&self, last: u64) -> rusqlite::Result<Vec<u64>> {
        match self {
            Self::Terms(terms) => any_of(terms, last),
            Self::Key(keyed) => Ok(keyed.seqs()),
            Self::Times(batches) => batches.seqs(last),
        }
    }
}

fn any_of(terms: &[Postings<'_>], last: u64) -> rusqlite::Result<Vec<u64>> {
    let mut seqs = Vec::new();
    for postings in terms {
        if let BatchPosition::Batch(at, packed) = &postings.at
            && *at == last
        {
            seqs.append(&mut unpack_seqs(packed, last)?);
        }
    }
    if terms.len() > 1 {
        seqs.sort_unstable_by(|a, b| b.cmp(a));
        seqs.dedup();
    }
    Ok(seqs)
}

/// The postings of one term.
pub(super) struct Postings<'c> {
    connection: &'c Connection,
    term: i64,
    low: u64,
    at: BatchPosition<Vec<u8>>,
}

impl Postings<'_> {
    fn seek(&mut self, bound: u64) -> rusqlite::Result<Option<u64>> {
        if self.at.is_behind(bound) {
            self.at = BatchPosition::new(self.find(bound)?);
        }
        Ok(self.at.batch())
    }

    fn find(&self, bound: u64) -> rusqlite::Result<Option<(u64, Vec<u8>)>> {
        let here = "SELECT last, iif(length(seqs) <= ?6, seqs, NULL) FROM ix.posting
                    WHERE epoch = ?2 AND term = ?3 AND last BETWEEN ?4 AND ?5 AND ?1 <= ?2 ORDER BY last DESC LIMIT 1";
        // The cross join keeps the order of the epochs, so that the first row found is the newest.
        let earlier = "SELECT p.last, iif(length(p.seqs) <= ?6, p.seqs, NULL) FROM ix.epoch e CROSS JOIN ix.posting p ON p.epoch = e.id
                       WHERE e.id >= ?1 AND e.id < ?2 AND p.term = ?3 AND p.last BETWEEN ?4 AND ?5
                       ORDER BY e.id DESC, p.last DESC LIMIT 1";
        let (from, to) = (epoch(self.low), epoch(bound));
        for sql in [here, earlier] {
            let values = params![from, to, self.term, self.low, bound, LONGEST];
            let mut statement = self.connection.prepare_cached(sql)?;
            let read = |row: &Row<'_>| Ok((row.get(0)?, blob_of(row, 1)?.to_vec()));
            let found = statement.query_row(values, read).optional()?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}
