//! Sends what waits: each signal in a task of its own, so that none holds up another. A batch that is not taken is tried
//! again with growing pauses, a few times, and then dropped and counted.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::metrics::Metrics;
use crate::protobuf::Message;
use crate::queue::{Counts, Queue, add};
use crate::receiver::{Delivery, Failure, Receiver};
use crate::trace::random;

/// How long an item waits for a batch to fill.
const DELAY: Duration = Duration::from_secs(1);
/// How often a batch is sent at most.
const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Set once the process ends.
pub(crate) type Stop = watch::Receiver<bool>;

/// Sends one signal to its receiver.
#[derive(Debug)]
pub(crate) struct Exporter {
    pub(crate) signal: &'static str,
    pub(crate) receiver: Receiver,
    pub(crate) stop: Stop,
    /// Whether the last request was not taken, which was logged.
    pub(crate) is_failing: bool,
}

impl Exporter {
    /// Sends batches until the process ends, and then what is left.
    pub(crate) async fn send_queue(mut self, queue: Arc<Queue>) {
        loop {
            let is_over = tokio::select! {
                () = queue.is_due.notified() => false,
                () = sleep(DELAY) => false,
                () = stopped(self.stop.clone()) => true,
            };
            while let Some(batch) = queue.take() {
                let is_taken = self.deliver(&batch.items, batch.count, queue.counts());
                if !is_taken.await {
                    add(&queue.counts().dropped, batch.count);
                }
            }
            if is_over {
                return;
            }
        }
    }

    /// Sends all metrics at each interval, and once more at the end. They are totals, so what was not taken is in the next.
    pub(crate) async fn send_metrics(
        mut self,
        metrics: Arc<Metrics>,
        counts: Arc<Counts>,
        interval: Duration,
    ) {
        loop {
            let is_over = tokio::select! {
                () = sleep(interval) => false,
                () = stopped(self.stop.clone()) => true,
            };
            if let Some(items) = metrics.write(SystemTime::now()) {
                let delivery = self.receiver.send(self.receiver.request(&items)).await;
                self.settle(&delivery, 1, &counts);
            }
            if is_over {
                return;
            }
        }
    }

    /// Sends a batch; false if it was not taken.
    async fn deliver(&mut self, items: &Message, count: u64, counts: &Counts) -> bool {
        let body = self.receiver.request(items);
        for attempt in 1..=ATTEMPTS {
            let delivery = self.receiver.send(body.clone()).await;
            self.settle(&delivery, count, counts);
            let pause = match delivery {
                Delivery::Taken { .. } => return true,
                Delivery::Refused { .. } => return false,
                Delivery::Later { pause, .. } => pause.max(backoff(attempt)),
            };
            if attempt == ATTEMPTS || *self.stop.borrow() {
                return false;
            }
            let until = Instant::now() + pause;
            tokio::select! {
                () = tokio::time::sleep_until(until) => {}
                () = stopped(self.stop.clone()) => {}
            }
        }
        false
    }

    /// Counts and logs what became of a request.
    fn settle(&mut self, delivery: &Delivery, count: u64, counts: &Counts) {
        match delivery {
            Delivery::Taken { rejected } => {
                let rejected = count.min(*rejected);
                add(&counts.exported, count - rejected);
                add(&counts.rejected, rejected);
                if rejected > 0 {
                    tracing::warn!(
                        signal = self.signal,
                        rejected,
                        "the receiver rejected a part"
                    );
                }
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!(signal = self.signal, "signals are exported again");
                }
            }
            Delivery::Later { why, .. } | Delivery::Refused { why } => {
                add(&counts.failures, 1);
                self.complain(*why);
            }
        }
    }

    /// Once for each time that a receiver goes away.
    fn complain(&mut self, why: Failure) {
        if !std::mem::replace(&mut self.is_failing, true) {
            let (signal, host) = (self.signal, self.receiver.host());
            tracing::warn!(signal, host, %why, "signals cannot be exported");
        }
    }
}

/// Resolves once the process ends.
async fn stopped(mut stop: Stop) {
    // Without a sender there is no reason to go on either.
    let _gone = stop.wait_for(|is_over| *is_over).await;
}

/// One second, two, four and so on, half of it by chance, so that gateways do not come back all at once.
fn backoff(attempt: u32) -> Duration {
    let pause = FIRST_PAUSE * 2_u32.pow(attempt.saturating_sub(1));
    let half = pause / 2;
    half + half.mul_f64(f64::from(u32::try_from(random() >> 32).unwrap_or(0)) / f64::from(u32::MAX))
}
