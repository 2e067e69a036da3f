//! What waits to be sent: items already written as protobuf, in batches. The queue takes a bounded number of bytes; what
//! comes while it is full is dropped and counted, so that a receiver that is away costs neither a call nor memory.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use countersign_dial::lock;
use tokio::sync::Notify;

use crate::protobuf::Message;

/// A batch of this size is sent at once.
const BATCH_BYTES: usize = 256 * 1024;
/// What may wait, the batch being sent not counted.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Items on their way out.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    /// A batch is full.
    pub(crate) is_due: Notify,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Waiting {
    open: Batch,
    full: VecDeque<Batch>,
    bytes: usize,
}

/// Items written one after the other, each as field 2 of the scope that they are sent in.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) items: Message,
    pub(crate) count: u64,
}

/// What became of the items so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) exported: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) rejected: AtomicU64,
    pub(crate) failures: AtomicU64,
}

impl Queue {
    /// Adds an item, or drops it if there is no room.
    pub(crate) fn push(&self, item: &Message) {
        let mut waiting = lock(&self.waiting);
        let before = waiting.open.items.0.len();
        if waiting.bytes + item.0.len() > MAX_BYTES {
            drop(waiting);
            add(&self.counts.dropped, 1);
            return;
        }
        waiting.open.items.bytes(2, &item.0);
        waiting.open.count += 1;
        waiting.bytes += waiting.open.items.0.len() - before;
        if waiting.open.items.0.len() < BATCH_BYTES {
            return;
        }
        let full = std::mem::take(&mut waiting.open);
        waiting.full.push_back(full);
        drop(waiting);
        self.is_due.notify_one();
    }

    /// The next batch, full or not; nothing if nothing waits.
    pub(crate) fn take(&self) -> Option<Batch> {
        let mut waiting = lock(&self.waiting);
        let next = match waiting.full.pop_front() {
            Some(full) => full,
            None => std::mem::take(&mut waiting.open),
        };
        waiting.bytes = waiting.bytes.saturating_sub(next.items.0.len());
        (next.count > 0).then_some(next)
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }
}

pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_is_full_drops_and_counts() {
        let queue = Queue::default();
        let item = Message(vec![0; 1000]);
        for _ in 0..10_000 {
            queue.push(&item);
        }
        let dropped = queue.counts().dropped.load(Ordering::Relaxed);
        let (mut taken, mut bytes) = (0, 0);
        while let Some(batch) = queue.take() {
            taken += batch.count;
            bytes += batch.items.0.len();
            assert!(batch.items.0.len() <= BATCH_BYTES + 2 * item.0.len());
        }
        assert_eq!(taken + dropped, 10_000);
        assert!(bytes <= MAX_BYTES, "{bytes}");
        assert!(bytes > MAX_BYTES - BATCH_BYTES, "{bytes}");
        queue.push(&item);
        assert_eq!(queue.take().map(|batch| batch.count), Some(1));
    }
}
