//! How a gateway stops: first nothing new is taken, then what is under way may finish, then what
//! has not finished is told to. Everybody who works holds a guard, so that the end can be awaited.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How far the stop has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Serving,
    /// Nothing new is taken.
    Draining,
    /// What is under way is to end now.
    Cancelling,
}

/// The stop of one gateway.
#[derive(Debug)]
pub(crate) struct Drain {
    phase: watch::Sender<Phase>,
    working: Arc<watch::Sender<usize>>,
}

impl Drain {
    pub(crate) fn new() -> Self {
        Self {
            phase: watch::Sender::new(Phase::Serving),
            working: Arc::new(watch::Sender::new(0)),
        }
    }

    /// The phase of this moment.
    pub(crate) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Waits until the stop has come this far.
    pub(crate) async fn reached(&self, phase: Phase) {
        let mut now = self.phase.subscribe();
        if now.wait_for(|now| *now >= phase).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Goes on to a phase.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Marks somebody as working for as long as the guard lives.
    pub(crate) fn work(&self) -> Work {
        self.working.send_modify(|working| *working += 1);
        Work(Arc::clone(&self.working))
    }

    /// Waits until nobody works, but not longer than this; false if somebody still does.
    pub(crate) async fn idle(&self, within: Duration) -> bool {
        let mut working = self.working.subscribe();
        let idle = working.wait_for(|working| *working == 0);
        timeout(within, idle).await.is_ok()
    }
}

/// Somebody is working.
#[derive(Debug)]
pub(crate) struct Work(Arc<watch::Sender<usize>>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0
            .send_modify(|working| *working = working.saturating_sub(1));
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
        drain.reached(Phase::Draining).await;
        assert!(!drain.idle(Duration::from_secs(1)).await);
        drain.enter(Phase::Cancelling);
        drain.reached(Phase::Draining).await;
        drop(work);
        assert!(drain.idle(Duration::ZERO).await);
        assert_eq!(drain.phase(), Phase::Cancelling);
    }
}
