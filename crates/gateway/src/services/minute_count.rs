//! `MinuteCount`: counts what strangers can make happen as often as they like, and says once a minute how much of it is to be
//! recorded, so that they cannot fill the store or the log.

use std::sync::atomic::{AtomicU64, Ordering};

use countersign_audit::Timestamp;

const MINUTE: u64 = 60_000;

/// How often something happened.
#[derive(Debug, Default)]
pub(crate) struct MinuteCount {
    total: AtomicU64,
    /// How much of it is in records.
    recorded: AtomicU64,
    /// The minute of the last record, counted from 1970.
    minute: AtomicU64,
}

impl MinuteCount {
    /// Counts one. Gives how many are to be recorded now; nothing if there was a record in this minute.
    pub(crate) fn count(&self, now: Timestamp) -> Option<u64> {
        let total = self.total.fetch_add(1, Ordering::Relaxed) + 1;
        let minute = now.as_millis() / MINUTE;
        // One of those that come together writes the record.
        if self.minute.swap(minute, Ordering::Relaxed) == minute {
            return None;
        }
        let before = self.recorded.swap(total, Ordering::Relaxed);
        Some(total.saturating_sub(before).max(1))
    }

    pub(crate) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }
}
