//! What a run counts of its starts, and what can be said of it meanwhile and at the end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::Engine;
use crate::load::{Progress, lock};
use crate::report::{Counters, millis, number, rounded};

/// Starts and what became of them.
#[derive(Debug, Default)]
pub(in crate::load) struct Tally {
    pub(in crate::load) offered: AtomicU64,
    pub(in crate::load) started: AtomicU64,
    pub(in crate::load) dropped: AtomicU64,
    pub(in crate::load) late: AtomicU64,
    /// Scenarios that could not go on because an earlier result lacked a value.
    pub(in crate::load) broken_off: AtomicU64,
    /// Calls of a strict run that were not sent because their arguments break the input schema.
    pub(in crate::load) withheld: AtomicU64,
    /// When the last counted start was made, in microseconds from the origin.
    pub(in crate::load) last_start: AtomicU64,
}

impl Engine {
    /// How far the run has got.
    pub(in crate::load) fn progress(&self) -> Progress {
        let figures = self.figures();
        let all = figures.all();
        let completed = figures.completed + figures.warm_up;
        drop(figures);
        let verdicts = self.validator.verdicts();
        let unexpected = verdicts.tools.iter().map(|tool| tool.unexpected).sum();
        let violations = verdicts.violations.counts.fail + verdicts.violations.counts.warn;
        drop(verdicts);
        let now = Instant::now();
        let mut shown = lock(&self.shown);
        let (last, before) = std::mem::replace(&mut *shown, (now, completed));
        let since = now.saturating_duration_since(last).as_secs_f64();
        let rate = number(completed - before) / since.max(1e-3);
        let at = |quantile| millis(all.response.value_at_quantile(quantile));
        Progress {
            elapsed: now.saturating_duration_since(self.origin()),
            total: self.plan.duration(),
            completed,
            rate,
            in_flight: self.in_flight(),
            dropped: self.tally.dropped.load(Ordering::Relaxed),
            unexpected,
            violations,
            p50_ms: at(0.5),
            p99_ms: at(0.99),
        }
    }

    /// The counters, for this many seconds of starts.
    pub(in crate::load) fn counters(&self, planned_s: f64, lasted_s: f64) -> Counters {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (offered, started) = (load(&self.tally.offered), load(&self.tally.started));
        let figures = self.figures();
        let per = |count: u64, seconds: f64| rounded(number(count) / seconds.max(1e-3));
        Counters {
            offered,
            started,
            completed: figures.completed,
            dropped: load(&self.tally.dropped),
            late: load(&self.tally.late),
            abandoned: self.in_flight() as u64,
            warm_up: figures.warm_up,
            unvalidated: self.validator.verdicts().unvalidated,
            offered_rate: per(offered, planned_s),
            achieved_rate: per(started, lasted_s),
        }
    }
}
