//! `Matches`: the records that an answer has found so far, whatever the database.

use super::{Page, StoredRecord};
use crate::query::{Cursor, Filter};

/// Bytes of records in one page, give or take a record: with payloads kept, a thousand records may be anything.
pub(super) const PAGE_BYTES: usize = 8 << 20;

/// Records found so far, up to a number and a size.
#[derive(Debug)]
pub(super) struct Matches {
    pub(super) wanted: usize,
    pub(super) max_bytes: usize,
    pub(super) records: Vec<StoredRecord>,
    pub(super) bytes: usize,
    /// Stored records met on the way that cannot be read.
    pub(super) unreadable: u64,
}

impl Matches {
    pub(super) fn new(wanted: usize, max_bytes: usize) -> Self {
        Self {
            wanted,
            max_bytes,
            records: Vec::new(),
            bytes: 0,
            unreadable: 0,
        }
    }

    /// For a page of `limit` records. One more is wanted, so that the page knows of the next.
    pub(super) fn for_page(limit: usize) -> Self {
        Self::new(limit + 1, PAGE_BYTES)
    }

    pub(super) fn is_full(&self) -> bool {
        self.records.len() >= self.wanted || self.bytes >= self.max_bytes
    }

    /// Takes in a row with a body of `size` bytes; `None` is one that cannot be read. The record has the last word: what the
    /// database compares may be equal for two names.
    pub(super) fn push(&mut self, record: Option<StoredRecord>, size: usize, filter: &Filter) {
        match record {
            Some(record) if filter.matches(&record.record) => {
                self.bytes += size;
                self.records.push(record);
            }
            Some(_) => {}
            None => self.unreadable += 1,
        }
    }

    /// A page of the first `limit` records.
    pub(super) fn into_page(mut self, limit: usize, total: Option<u64>) -> Page {
        let more = self.is_full();
        self.records.truncate(limit);
        let last = self.records.last().filter(|_| more);
        let next_cursor = last.map(|record| Cursor { before: record.seq }.to_string());
        Page {
            activities: self.records,
            next_cursor,
            total,
            unreadable: self.unreadable,
        }
    }
}
