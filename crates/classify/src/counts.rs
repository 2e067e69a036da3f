//! Counters for monitoring one classifier.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;
use crate::outcome::Outcome;
use crate::verdict::Action;

#[derive(Debug, Default)]
pub(crate) struct Counts {
    verdicts: [AtomicU64; 3],
    errors: [AtomicU64; Error::REASONS.len()],
    unscreened: AtomicU64,
    chunks: AtomicU64,
    remembered: AtomicU64,
    micros: AtomicU64,
}

/// One classifier's counters at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// The classifier.
    pub name: String,
    /// Results by the worst verdict about them: allow, flag, block.
    pub verdicts: [u64; 3],
    /// Results that were not screened, or not wholly, by reason; as in [`Error::REASONS`].
    pub errors: [u64; Error::REASONS.len()],
    /// Those of them that were forwarded without a finding, because `on_error` is `open`.
    pub forwarded_unscreened: u64,
    /// Chunks with a verdict.
    pub chunks: u64,
    /// Those of them that were remembered.
    pub remembered: u64,
    /// Time spent, in microseconds.
    pub micros: u64,
    /// Whether it is left alone after failures.
    pub paused: bool,
}

impl Counts {
    pub(crate) fn add(&self, outcome: &Outcome) {
        let one = |counter: Option<&AtomicU64>| {
            if let Some(counter) = counter {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        };
        if let Some(error) = outcome.error {
            one(self.errors.get(error.index()));
        }
        if outcome.chunks > 0 {
            one(self.verdicts.get(match outcome.verdict.action {
                Action::Allow => 0,
                Action::Flag => 1,
                Action::Block => 2,
            }));
        }
        let add = |counter: &AtomicU64, count: usize| {
            counter.fetch_add(count as u64, Ordering::Relaxed);
        };
        add(&self.chunks, outcome.chunks);
        add(&self.remembered, outcome.remembered);
        let micros = u64::try_from(outcome.elapsed.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn forwarded_unscreened(&self) {
        self.unscreened.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self, name: &str, paused: bool) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            name: name.to_owned(),
            verdicts: self.verdicts.each_ref().map(read),
            errors: self.errors.each_ref().map(read),
            forwarded_unscreened: read(&self.unscreened),
            chunks: read(&self.chunks),
            remembered: read(&self.remembered),
            micros: read(&self.micros),
            paused,
        }
    }
}
