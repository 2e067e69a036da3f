//! A future whose panic is an outcome. A bug in one call must not lose the record of the call, and a bug in one change of
//! the configuration must not end the task that makes the changes.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The future panicked. What it said is on stderr already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Runs a future to its end or to its panic, after which it is not touched again.
pub(crate) async fn catch_panic<F: Future>(future: F) -> Result<F::Output, Panicked> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let poll = AssertUnwindSafe(|| future.as_mut().poll(context));
        match catch_unwind(poll) {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_outcome() {
        assert_eq!(catch_panic(async { 5 }).await, Ok(5));
        let late = async {
            tokio::task::yield_now().await;
            assert_eq!(1, 2, "on purpose");
        };
        assert_eq!(catch_panic(late).await, Err(Panicked));
    }
}
