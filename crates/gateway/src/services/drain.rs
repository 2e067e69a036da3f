//! How a gateway stops: first it says so, while it still takes requests, then nothing new is taken and what is under way
//! may finish, then what has not finished is told to. All work under way holds a guard, so that the end can be awaited.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

/// How far the stop has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Serving,
    /// Requests are still taken, but proxies are told to send theirs elsewhere.
    Leaving,
    /// Nothing new is taken.
    Draining,
    /// What is under way is to end now.
    Cancelling,
}

/// The stop of one gateway.
#[derive(Debug)]
pub(crate) struct Drain {
    phase: AtomicU8,
    /// Notified of every phase.
    entered: Notify,
    working: Arc<WorkCount>,
}

/// How many tasks work, and the notice that none does. Every call comes and goes here, so that is one atomic each.
#[derive(Debug, Default)]
struct WorkCount {
    count: AtomicUsize,
    idle: Notify,
}

impl Drain {
    pub(crate) fn new() -> Self {
        Self {
            phase: AtomicU8::new(Phase::Serving as u8),
            entered: Notify::new(),
            working: Arc::default(),
        }
    }

    /// The current phase.
    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::SeqCst) {
            phase if phase == Phase::Serving as u8 => Phase::Serving,
            phase if phase == Phase::Leaving as u8 => Phase::Leaving,
            phase if phase == Phase::Draining as u8 => Phase::Draining,
            _ => Phase::Cancelling,
        }
    }

    /// Waits until this phase.
    pub(crate) async fn wait_for_phase(&self, phase: Phase) {
        until(&self.entered, || self.phase() >= phase).await;
    }

    /// Goes on to a phase.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::SeqCst);
        self.entered.notify_waiters();
    }

    /// Marks the caller as working for as long as the guard lives.
    pub(crate) fn work(&self) -> WorkGuard {
        self.working.count.fetch_add(1, Ordering::SeqCst);
        WorkGuard(Arc::clone(&self.working))
    }

    /// Waits until nothing is under way, but not longer than this; false if something still is.
    pub(crate) async fn wait_idle(&self, within: Duration) -> bool {
        let working = &self.working;
        let idle = until(&working.idle, || working.count.load(Ordering::SeqCst) == 0);
        timeout(within, idle).await.is_ok()
    }
}

/// Waits until `condition` holds. Callers that make it true must notify.
async fn until(changed: &Notify, condition: impl Fn() -> bool) {
    loop {
        let mut changed = std::pin::pin!(changed.notified());
        // Listening first: the condition may become true between the check and the wait.
        changed.as_mut().enable();
        if condition() {
            return;
        }
        changed.await;
    }
}

/// Marks work under way.
#[derive(Debug)]
pub(crate) struct WorkGuard(Arc<WorkCount>);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stop_waits_for_work_and_then_insists() {
        let drain = Drain::new();
        let work = drain.work();
        drain.enter(Phase::Draining);
        drain.wait_for_phase(Phase::Draining).await;
        assert!(!drain.wait_idle(Duration::from_secs(1)).await);
        drain.enter(Phase::Cancelling);
        drain.wait_for_phase(Phase::Draining).await;
        let another = drain.work();
        let waiting = drain.wait_idle(Duration::from_secs(1));
        let working = async {
            drop(work);
            tokio::task::yield_now().await;
            drop(another);
        };
        let (idle, ()) = tokio::join!(waiting, working);
        assert!(idle && drain.wait_idle(Duration::ZERO).await);
        assert_eq!(drain.phase(), Phase::Cancelling);
    }
}
