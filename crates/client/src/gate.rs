//! How many calls a server gets at once, and how many more may wait. A call that finds the queue full
//! fails at once, so that its client can try elsewhere or later.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::Error;

/// Limits how many calls one server has at once.
#[derive(Debug)]
pub(crate) struct Gate {
    places: Semaphore,
    waiting: AtomicUsize,
    queue: usize,
}

impl Gate {
    pub(crate) fn new(places: usize, queue: usize) -> Self {
        Self {
            places: Semaphore::new(places.clamp(1, Semaphore::MAX_PERMITS)),
            waiting: AtomicUsize::new(0),
            queue,
        }
    }

    /// A place, at once or after waiting in the queue.
    pub(crate) async fn enter(&self) -> Result<SemaphorePermit<'_>, Error> {
        if let Ok(place) = self.places.try_acquire() {
            return Ok(place);
        }
        let _slot = self.queue().ok_or(Error::QueueFull)?;
        self.places.acquire().await.map_err(|_| Error::ShuttingDown)
    }

    fn queue(&self) -> Option<QueueSlot<'_>> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let slot = QueueSlot(&self.waiting);
        (before < self.queue).then_some(slot)
    }
}

/// A place in the queue, given up on drop.
struct QueueSlot<'a>(&'a AtomicUsize);

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_queue_is_bounded_and_moves() {
        let gate = Gate::new(1, 1);
        let inside = gate.enter().await.expect("there is a place");
        let waiting = gate.enter();
        tokio::pin!(waiting);
        assert!(futures_pending(waiting.as_mut()).await);
        assert_eq!(gate.enter().await.err(), Some(Error::QueueFull));
        drop(inside);
        let next = waiting.await.expect("its turn");
        drop(next);
        assert!(gate.enter().await.is_ok());
    }

    /// Polls once and says whether the future still waits.
    async fn futures_pending<F: Future + Unpin>(mut future: F) -> bool {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(std::pin::Pin::new(&mut future).poll(context).is_pending())
        })
        .await
    }
}
