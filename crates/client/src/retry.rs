//! The lives of a server that ends too early: how long to wait before the next, and when to stop
//! letting calls wait for it.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

use crate::backoff;

/// A server that has been up this long is not failing to start.
const SETTLED: Duration = Duration::from_secs(10);
/// After this many failures in a row calls no longer wait for the next try.
const PATIENT: u32 = 3;

/// When a failed server is tried again, by how often in a row it has failed.
#[derive(Debug, Default)]
pub(crate) struct RetryPolicy {
    failures: u32,
}

impl RetryPolicy {
    /// A life ended after so long: the pause before the next.
    pub(crate) fn failed(&mut self, lasted: Duration) -> Duration {
        let settled = lasted > SETTLED;
        self.failures = if settled { 1 } else { self.failures + 1 };
        backoff::delay(self.failures)
    }

    /// Whether calls should wait for the next try.
    pub(crate) fn are_worth_waiting(&self) -> bool {
        self.failures <= PATIENT
    }
}

/// Waits so long, or until told to stop.
pub(crate) async fn pause_or_stop(pause: Duration, stop: &mut watch::Receiver<bool>) {
    tokio::select! {
        () = sleep(pause) => {}
        _ = stop.wait_for(|stop| *stop) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_lasted_starts_over() {
        let mut tries = RetryPolicy::default();
        for _ in 0..PATIENT {
            tries.failed(Duration::ZERO);
            assert!(tries.are_worth_waiting());
        }
        tries.failed(SETTLED);
        assert!(!tries.are_worth_waiting());
        tries.failed(SETTLED * 2);
        assert!(tries.are_worth_waiting());
    }
}
