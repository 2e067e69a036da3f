//! `ListBudget`: how often one server may have its tools listed.
//!
//! A server says when its list changes, and each list is fetched, compiled, compared and recorded. A few in a row are ordinary,
//! when tools come up one after the other. After that the next list is delayed, also across reconnects.

use std::time::Duration;

use tokio::time::Instant;

/// Lists that may follow each other at once.
const BURST: u32 = 10;
/// One more list is allowed after each of these periods.
const REFILL: Duration = Duration::from_mins(1);

/// What one server has left.
#[derive(Debug)]
pub(super) struct ListBudget {
    /// When it has all of its burst again.
    full_at: Instant,
}

impl ListBudget {
    pub(super) fn new(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// Takes one list; gives how long to wait before it is fetched.
    pub(super) fn take(&mut self, now: Instant) -> Duration {
        let full_at = self.full_at.max(now);
        // A server that comes and goes while it waits does not make its wait longer.
        self.full_at = (full_at + REFILL).min(now + REFILL * (BURST + 1));
        full_at.saturating_duration_since(now + REFILL * (BURST - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_the_rest_waits_its_turn() {
        let start = Instant::now();
        let mut budget = ListBudget::new(start);
        for _ in 0..BURST {
            assert_eq!(budget.take(start), Duration::ZERO);
        }
        assert_eq!(budget.take(start), REFILL);
        assert_eq!(budget.take(start + REFILL), REFILL);
        let quiet = start + REFILL * 60;
        for _ in 0..BURST {
            assert_eq!(budget.take(quiet), Duration::ZERO);
        }
        assert_eq!(budget.take(quiet), REFILL);
        for _ in 0..100 {
            assert!(budget.take(quiet) <= REFILL * 2);
        }
    }
}
