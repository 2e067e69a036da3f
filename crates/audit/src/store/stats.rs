//! Counters of one store, shared by its threads. What metrics and `/readyz` read.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Counters the threads write.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) committed: AtomicU64,
    pub(crate) transactions: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) checkpoints: AtomicU64,
    pub(crate) indexed: AtomicU64,
    pub(crate) removed: AtomicU64,
    pub(crate) down: AtomicBool,
    pub(crate) clock_skew_millis: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }

    /// Records that never reached the store.
    pub(crate) fn lost(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed) + self.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn read(&self) -> Stats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            committed: get(&self.committed),
            transactions: get(&self.transactions),
            dropped: get(&self.dropped),
            failed: get(&self.failed),
            checkpoints: get(&self.checkpoints),
            indexed: get(&self.indexed),
            removed: get(&self.removed),
            clock_skew: Duration::from_millis(get(&self.clock_skew_millis)),
            healthy: !self.down.load(Ordering::Relaxed),
        }
    }
}

/// What this process's store has done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Records committed.
    pub committed: u64,
    /// Transactions they took.
    pub transactions: u64,
    /// Records dropped because the queue of `durability = "async"` was full.
    pub dropped: u64,
    /// Records lost because the store failed.
    pub failed: u64,
    /// Checkpoints signed.
    pub checkpoints: u64,
    /// Records indexed.
    pub indexed: u64,
    /// Records removed by retention.
    pub removed: u64,
    /// How far the clock of this machine is from that of the database; nothing where they are the same clock.
    pub clock_skew: Duration,
    /// The last write succeeded.
    pub healthy: bool,
}
