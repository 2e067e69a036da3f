//! `NewestCalls`: the newest calls and the decisions about them, collected from pages that come newest first.

use std::collections::HashSet;

use super::record_preview::is_counted_call;
use crate::id::Ulid;
use crate::record::{Kind, Record};

/// The records of the newest calls, up to a number of calls.
#[derive(Debug)]
pub(crate) struct NewestCalls {
    wanted: usize,
    calls: usize,
    /// Newest first, without payloads.
    records: Vec<Record>,
}

impl NewestCalls {
    pub(crate) fn new(wanted: usize) -> Self {
        Self {
            wanted,
            calls: 0,
            records: Vec::new(),
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.calls >= self.wanted
    }

    /// How many calls are missing.
    pub(crate) fn missing(&self) -> usize {
        self.wanted.saturating_sub(self.calls)
    }

    /// Takes in the record before those it has. Records after the last wanted call are left out.
    pub(crate) fn push(&mut self, mut record: Record) {
        if self.is_full() {
            return;
        }
        self.calls += usize::from(is_counted_call(&record));
        record.request = None;
        record.response = None;
        self.records.push(record);
    }

    /// The records, oldest first. If older calls were left out, so are the decisions about them.
    pub(crate) fn into_records(self) -> impl Iterator<Item = Record> {
        let is_cut = self.is_full();
        let calls = self.records.iter().filter(|one| one.kind().is_call());
        let calls: HashSet<Ulid> = calls.map(Record::id).collect();
        let is_kept = move |record: &Record| {
            let is_of_older_call = record.kind() == Kind::PolicyDecision
                && record.parent_id.is_some_and(|call| !calls.contains(&call));
            !is_cut || !is_of_older_call || is_counted_call(record)
        };
        self.records.into_iter().rev().filter(is_kept)
    }
}
