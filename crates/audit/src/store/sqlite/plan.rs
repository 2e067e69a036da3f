//! `Plan`: how the index answers one filter.
//!
//! Each part of the filter names the batches that have a match and the places in them. The parts are walked together, newest
//! batch first, and each passes over what another has passed over: a page costs what the rarest part has, not what the filter
//! matches.

mod batches;
mod condition_cursor;
mod conditions;
mod key_matches;

use rusqlite::Connection;

use super::lookup::{batch_of, newest_batch};
use super::packed::damaged;
use crate::query::Filter;
use condition_cursor::ConditionCursor;

/// How one filter is answered from the index.
pub(super) struct Plan {
    /// Without any, nothing in the index can match.
    conditions: Vec<Condition>,
    /// The places in the store that the filter's time, and retention, leave.
    low: u64,
    high: u64,
}

/// A part of the filter, in the integers of the index.
enum Condition {
    /// Any of these terms.
    Terms(Vec<i64>),
    /// This key. What it finds may have another one.
    Key(u32),
    /// Not before the first and before the second, in milliseconds.
    Times(u64, u64),
}

impl Plan {
    /// Places before `first` are gone.
    pub(super) fn new(
        connection: &Connection,
        filter: &Filter,
        first: u64,
    ) -> rusqlite::Result<Self> {
        let mut plan = Self {
            conditions: Vec::new(),
            low: first,
            high: i64::MAX as u64,
        };
        if !plan.add(connection, filter)? {
            plan.conditions.clear();
        }
        Ok(plan)
    }

    /// Is what the plan finds a match without a look at the record?
    pub(super) fn is_exact(&self) -> bool {
        let mut conditions = self.conditions.iter();
        !conditions.any(|condition| matches!(condition, Condition::Key(_)))
    }

    /// Up to `limit` places of matching records before `before`, newest first.
    pub(super) fn before(
        &self,
        connection: &Connection,
        before: u64,
        limit: usize,
    ) -> rusqlite::Result<Vec<u64>> {
        let mut seqs = Vec::new();
        self.walk(connection, before, |found| {
            seqs.extend(found.iter().take(limit - seqs.len()));
            Ok(seqs.len() < limit)
        })?;
        Ok(seqs)
    }

    /// Hands out the places of matches before `before`, newest first, batch by batch, as long as `each` says so.
    pub(super) fn walk(
        &self,
        connection: &Connection,
        before: u64,
        mut each: impl FnMut(&[u64]) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<()> {
        let Some(newest) = before.checked_sub(1).map(|seq| seq.min(self.high)) else {
            return Ok(());
        };
        let parts = self
            .conditions
            .iter()
            .map(|condition| ConditionCursor::new(connection, condition, self.low));
        let mut parts: Vec<ConditionCursor<'_>> = parts.collect::<Result<_, _>>()?;
        let mut bound = match batch_of(connection, newest)? {
            None => newest_batch(connection)?,
            bound => bound,
        };
        while let Some(last) = bound
            && let Some(last) = agree(&mut parts, last)?
            && last >= self.low
        {
            let mut seqs = common(&mut parts, last)?;
            seqs.retain(|seq| (self.low..=newest).contains(seq));
            if !seqs.is_empty() && !each(&seqs)? {
                break;
            }
            bound = last.checked_sub(1);
        }
        Ok(())
    }
}

/// The newest batch up to `bound` in which every part has something.
fn agree(parts: &mut [ConditionCursor<'_>], mut bound: u64) -> rusqlite::Result<Option<u64>> {
    let (count, mut agreed) = (parts.len(), 0);
    while agreed < count {
        for part in &mut *parts {
            let last = match part.seek(bound)? {
                None => return Ok(None),
                Some(last) if last > bound => return Err(damaged()),
                Some(last) => last,
            };
            agreed = if last == bound { agreed + 1 } else { 1 };
            bound = last;
            if agreed == count {
                break;
            }
        }
    }
    Ok((count > 0).then_some(bound))
}

/// The places that every part has in a batch, newest first.
fn common(parts: &mut [ConditionCursor<'_>], last: u64) -> rusqlite::Result<Vec<u64>> {
    let mut common: Option<Vec<u64>> = None;
    for part in parts {
        let seqs = part.seqs(last)?;
        common = Some(match common {
            None => seqs,
            Some(mut common) => {
                let mut others = seqs.iter().copied().peekable();
                common.retain(|seq| {
                    while others.next_if(|other| other > seq).is_some() {}
                    others.peek() == Some(seq)
                });
                common
            }
        });
    }
    Ok(common.unwrap_or_default())
}
