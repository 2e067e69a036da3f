//! How long a call is waited for. Each report of progress renews the patience, up to a total that
//! nothing renews: a server that is busy for ever is as good as silent.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::error::Error;
use crate::notes::NoteSink;

/// How long the calls of one server are waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    each: Duration,
    total: Duration,
}

impl Timeouts {
    pub(crate) fn new(each: Duration, total: Duration) -> Self {
        Self {
            each,
            total: total.max(each),
        }
    }

    /// Waits for a call, or a later part of one, that began at `start` and reports its progress to `notes`. By reference: a
    /// future that is passed by value and pinned here would have its place twice in the future of the call.
    pub(crate) async fn wait<T>(
        self,
        start: Instant,
        notes: &NoteSink,
        mut call: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, Error> {
        let last = start + self.total;
        let mut deadline = start + self.each;
        loop {
            if let Ok(outcome) = timeout_at(deadline, call.as_mut()).await {
                return Ok(outcome);
            }
            let renewed = notes.progressed().map(|at| (at + self.each).min(last));
            match renewed {
                Some(renewed) if renewed > deadline => deadline = renewed,
                _ => {
                    let after = deadline.duration_since(start);
                    let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                    return Err(Error::TimedOut { after_ms });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use bytes::Bytes;
    use tokio::time::sleep;

    use super::*;
    use crate::notes::channel;

    const SECOND: Duration = Duration::from_secs(1);

    async fn silent() {
        std::future::pending::<()>().await;
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_waited_for_once() {
        let patience = Timeouts::new(SECOND, 10 * SECOND);
        let outcome = patience
            .wait(Instant::now(), &NoteSink::closed(), pin!(silent()))
            .await;
        assert_eq!(outcome, Err(Error::TimedOut { after_ms: 1000 }));
        let quick = pin!(async { 5 });
        assert_eq!(
            patience
                .wait(Instant::now(), &NoteSink::closed(), quick)
                .await,
            Ok(5)
        );
    }

    /// The inspection of a reply is inside the call's time-out.
    #[tokio::test(start_paused = true)]
    async fn what_follows_a_reply_has_the_time_that_the_reply_left() {
        let patience = Timeouts::new(SECOND, 10 * SECOND);
        let start = Instant::now();
        sleep(SECOND / 4 * 3).await;
        let closed = NoteSink::closed();
        let quick = patience.wait(start, &closed, pin!(sleep(SECOND / 8))).await;
        assert_eq!(quick, Ok(()));
        let slow = patience.wait(start, &closed, pin!(sleep(SECOND))).await;
        assert_eq!(slow, Err(Error::TimedOut { after_ms: 1000 }));
        assert_eq!(start.elapsed(), SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn progress_renews_patience_up_to_a_total() {
        let patience = Timeouts::new(SECOND, 10 * SECOND);
        let report = Bytes::from_static(
            br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
        );
        let (sink, _notes) = channel(Some(Bytes::from_static(b"1")), None);
        let busy = async {
            for _ in 0..4 {
                sleep(SECOND * 3 / 4).await;
                sink.offer("notifications/progress", &report);
            }
        };
        let busy = patience.wait(Instant::now(), &sink, pin!(busy)).await;
        assert_eq!(busy, Ok(()));
        let for_ever = async {
            loop {
                sink.offer("notifications/progress", &report);
                sleep(SECOND / 2).await;
            }
        };
        let outcome: Result<(), _> = patience.wait(Instant::now(), &sink, pin!(for_ever)).await;
        assert_eq!(outcome, Err(Error::TimedOut { after_ms: 10_000 }));
    }
}
