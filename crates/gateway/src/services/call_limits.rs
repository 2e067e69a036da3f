//! How many calls each caller may make: rates by GCRA, which takes one number per caller and limit, and how many calls are
//! under way. Counted in this process only.
//!
//! Memory is bounded. A caller is forgotten only when its counters are as if it had never called, so forgetting gives no caller
//! a fresh start. When there is no room for one more caller, those without a place share one set of counters.

mod counter;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

use countersign_config::{Config, Limit};
use countersign_dial::lock;
use countersign_inspect::Refusal;

use crate::state::Caller;
use counter::{Counter, enter, leave};

/// How many callers have counters of their own.
const MAX_CALLERS: usize = 16_384;
/// How often all counters are looked through for callers that can be forgotten.
const SWEEP: u64 = 1_000_000_000;

/// The counters of all callers.
#[derive(Debug)]
pub(crate) struct CallLimits {
    /// Times are counted in nanoseconds from here.
    start: Instant,
    callers: Mutex<Callers>,
}

#[derive(Debug, Default)]
struct Callers {
    known: HashMap<Arc<str>, Counted>,
    /// For callers that have no place, one counter per limit of the configuration.
    shared: Option<Counted>,
    /// When a sweep found no room.
    swept: Option<u64>,
}

/// The counters of one caller, under one configuration.
#[derive(Debug)]
struct Counted {
    config: Weak<Config>,
    counters: Arc<[Arc<Counter>]>,
}

/// A call that is under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct CountedCall(Arc<[Arc<Counter>]>);

impl Drop for CountedCall {
    fn drop(&mut self) {
        leave(&self.0);
    }
}

impl CallLimits {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            callers: Mutex::default(),
        }
    }

    /// Counts a call of a caller until the result is dropped; nothing if no limit is for it.
    pub(crate) fn begin(
        &self,
        config: &Arc<Config>,
        caller: &Caller,
    ) -> Result<Option<CountedCall>, Refusal> {
        if config.limits.is_empty() {
            return Ok(None);
        }
        let now = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let counters = lock(&self.callers).counters(config, caller, now);
        if counters.is_empty() {
            return Ok(None);
        }
        enter(&counters, now).map(|()| Some(CountedCall(counters)))
    }
}

impl Callers {
    fn counters(&mut self, config: &Arc<Config>, caller: &Caller, now: u64) -> Arc<[Arc<Counter>]> {
        if let Some(counted) = self.known.get_mut(&caller.name) {
            if !counted.is_under(config) {
                *counted = Counted::new(config, &counted.counters, |limit| is_for(limit, caller));
            }
            return Arc::clone(&counted.counters);
        }
        if !config.limits.iter().any(|limit| is_for(limit, caller)) {
            return Arc::new([]);
        }
        if !self.has_room(now) {
            return self.shared_counters(config, caller);
        }
        let counted = Counted::new(config, &[], |limit| is_for(limit, caller));
        let counters = Arc::clone(&counted.counters);
        self.known.insert(Arc::clone(&caller.name), counted);
        counters
    }

    /// Whether there is a place for one more caller. Makes room, but not with every call.
    fn has_room(&mut self, now: u64) -> bool {
        if self.known.len() < MAX_CALLERS {
            return true;
        }
        if self
            .swept
            .is_some_and(|swept| now < swept.saturating_add(SWEEP))
        {
            return false;
        }
        self.known.retain(|_, counted| !counted.is_unused(now));
        let has_room = self.known.len() < MAX_CALLERS;
        self.swept = (!has_room).then_some(now);
        has_room
    }

    /// The counters that callers without a place share, of the limits that are for this one.
    fn shared_counters(&mut self, config: &Arc<Config>, caller: &Caller) -> Arc<[Arc<Counter>]> {
        let shared = self
            .shared
            .get_or_insert_with(|| Counted::new(config, &[], |_| true));
        if !shared.is_under(config) {
            *shared = Counted::new(config, &shared.counters, |_| true);
        }
        let counters = shared.counters.iter();
        let own = counters.filter(|counter| is_for(&counter.limit, caller));
        own.cloned().collect()
    }
}

impl Counted {
    /// Counters for the limits of a configuration. A limit that stays as it is keeps what was used of it.
    fn new(
        config: &Arc<Config>,
        before: &[Arc<Counter>],
        is_wanted: impl Fn(&Limit) -> bool,
    ) -> Self {
        let limits = config.limits.iter().filter(|limit| is_wanted(limit));
        let counters = limits.map(|limit| {
            let kept = before.iter().find(|counter| counter.limit == *limit);
            kept.map_or_else(|| Arc::new(Counter::new(limit)), Arc::clone)
        });
        Self {
            config: Arc::downgrade(config),
            counters: counters.collect(),
        }
    }

    fn is_under(&self, config: &Arc<Config>) -> bool {
        std::ptr::eq(self.config.as_ptr(), Arc::as_ptr(config))
    }

    /// Whether it says the same as counters of a caller that has never called.
    fn is_unused(&self, now: u64) -> bool {
        self.counters.iter().all(|counter| counter.is_unused(now))
    }
}

fn is_for(limit: &Limit, caller: &Caller) -> bool {
    let mut callers = limit.callers.iter();
    callers.any(|pattern| pattern.matches(&caller.name, &caller.groups))
}

#[cfg(test)]
mod tests;
