//! `Counter`: what one caller has used of one limit. The pace is kept by GCRA: one number says until when the calls so far
//! have taken up the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use countersign_config::Limit;
use countersign_inspect::Refusal;

pub(super) const SECOND: u64 = 1_000_000_000;

/// What one caller has used of one limit.
#[derive(Debug)]
pub(super) struct Counter {
    pub(super) limit: Limit,
    /// The time that one call takes up, and the time that may be taken up in advance. None without a rate.
    rate: Option<(u64, u64)>,
    /// Until when the caller's calls have taken up the time.
    pub(super) taken_until: AtomicU64,
    pub(super) under_way: AtomicUsize,
}

impl Counter {
    pub(super) fn new(limit: &Limit) -> Self {
        let rate = limit.calls.map(|rate| {
            let period = u64::try_from(rate.period().as_nanos()).unwrap_or(u64::MAX);
            let one = (period / u64::from(rate.calls())).max(1);
            let burst = limit.burst.unwrap_or(rate.calls());
            (one, one.saturating_mul(u64::from(burst)))
        });
        Self {
            limit: limit.clone(),
            rate,
            taken_until: AtomicU64::new(0),
            under_way: AtomicUsize::new(0),
        }
    }

    /// Whether it says the same as the counter of a caller that has never called.
    pub(super) fn is_unused(&self, now: u64) -> bool {
        self.taken_until.load(Ordering::Relaxed) <= now
            && self.under_way.load(Ordering::Relaxed) == 0
    }

    /// Counts a call that begins, if there is room for it.
    pub(super) fn enter(&self) -> bool {
        let most = self.limit.concurrent.map(|most| most as usize);
        let entered =
            self.under_way
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |under_way| {
                    let fits = most.is_none_or(|most| under_way < most);
                    fits.then_some(under_way + 1)
                });
        entered.is_ok()
    }

    /// Takes up the time of one call, or says in which time that can be tried again.
    fn take(&self, now: u64) -> Result<(), Duration> {
        let Some((one, ahead)) = self.rate else {
            return Ok(());
        };
        let after = |taken: u64| taken.max(now).saturating_add(one);
        let fits = |taken: u64| after(taken) <= now.saturating_add(ahead);
        self.taken_until
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                fits(taken).then(|| after(taken))
            })
            .map(|_| ())
            .map_err(|taken| {
                Duration::from_nanos(after(taken).saturating_sub(now.saturating_add(ahead)))
            })
    }

    /// Gives the time of one call back.
    fn give_back(&self) {
        if let Some((one, _)) = self.rate {
            self.taken_until.fetch_sub(one, Ordering::Relaxed);
        }
    }
}

/// Counts a call that begins under every limit, or under none.
pub(super) fn enter(counters: &[Arc<Counter>], now: u64) -> Result<(), Refusal> {
    for (index, counter) in counters.iter().enumerate() {
        if !counter.enter() {
            leave(counters.get(..index).unwrap_or_default());
            return Err(Refusal::TooManyCalls);
        }
    }
    for (index, counter) in counters.iter().enumerate() {
        if let Err(wait) = counter.take(now) {
            let taken = counters.get(..index).unwrap_or_default();
            for counter in taken {
                counter.give_back();
            }
            leave(counters);
            let nanos = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
            let after_s = nanos.div_ceil(SECOND).max(1);
            return Err(Refusal::OverRate { after_s });
        }
    }
    Ok(())
}

/// Counts a call that ends.
pub(super) fn leave(counters: &[Arc<Counter>]) {
    for counter in counters {
        counter.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}
