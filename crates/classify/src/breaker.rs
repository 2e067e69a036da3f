//! A circuit breaker: a classifier that keeps failing is paused, so that calls do not wait for its time-out. After the
//! pause one request is let through; its outcome decides. An attempt that is dropped without an answer counts as failed.

use std::sync::Mutex;
use std::time::Duration;

use countersign_dial::lock;
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct Breaker {
    failures: u32,
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Questions go through; this many failed in a row.
    Closed(u32),
    Open(Instant),
    /// One question is under way to see.
    Trying,
}

impl Breaker {
    pub(crate) fn new(failures: u32, pause: Duration) -> Self {
        let state = Mutex::new(State::Closed(0));
        Self {
            failures: failures.max(1),
            pause,
            state,
        }
    }

    /// Leave to ask.
    pub(crate) fn attempt(&self) -> Option<Attempt<'_>> {
        let mut state = lock(&self.state);
        match *state {
            State::Closed(_) => {}
            State::Open(until) if until <= Instant::now() => *state = State::Trying,
            State::Open(_) | State::Trying => return None,
        }
        Some(Attempt {
            breaker: self,
            succeeded: false,
        })
    }

    /// Whether questions are held back.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(*lock(&self.state), State::Closed(_))
    }
}

/// A question under way.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    breaker: &'a Breaker,
    succeeded: bool,
}

impl Attempt<'_> {
    pub(crate) fn succeeded(mut self) {
        self.succeeded = true;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.breaker.state);
        *state = match *state {
            // A straggler from before the pause says nothing about now.
            State::Open(until) => State::Open(until),
            _ if self.succeeded => State::Closed(0),
            State::Closed(failures) if failures + 1 < self.breaker.failures => {
                State::Closed(failures + 1)
            }
            State::Closed(_) | State::Trying => State::Open(Instant::now() + self.breaker.pause),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(breaker: &Breaker) {
        drop(breaker.attempt().expect("still asked"));
    }

    #[tokio::test(start_paused = true)]
    async fn it_opens_tries_once_and_recovers() {
        let pause = Duration::from_secs(10);
        let breaker = Breaker::new(3, pause);
        fail(&breaker);
        fail(&breaker);
        breaker.attempt().unwrap().succeeded();
        fail(&breaker);
        fail(&breaker);
        assert!(!breaker.is_open(), "only failures in a row count");
        fail(&breaker);
        assert!(breaker.is_open() && breaker.attempt().is_none());
        tokio::time::advance(pause).await;
        let probe = breaker.attempt().expect("one may try");
        assert!(breaker.attempt().is_none(), "and only one");
        drop(probe);
        assert!(
            breaker.attempt().is_none(),
            "it failed, so the pause begins again"
        );
        tokio::time::advance(pause).await;
        breaker.attempt().unwrap().succeeded();
        assert!(!breaker.is_open());
    }

    #[tokio::test(start_paused = true)]
    async fn a_straggler_does_not_close_it() {
        let breaker = Breaker::new(1, Duration::from_secs(10));
        let slow = breaker.attempt().unwrap();
        fail(&breaker);
        slow.succeeded();
        assert!(breaker.is_open());
    }
}
