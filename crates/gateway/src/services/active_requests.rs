//! The requests of one client that are under way, so that the client can cancel them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use countersign_client::CancelReason;
use countersign_dial::lock;
use tokio::sync::oneshot;

/// Tells requests of the same id apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Requests by their id token. Dropping a handle cancels its request.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveRequests(Arc<Mutex<HashMap<Bytes, RequestHandle>>>);

/// Keeps a request alive. Tells it from later requests of the same id.
#[derive(Debug)]
struct RequestHandle {
    number: u64,
    _keep: oneshot::Sender<()>,
    /// Set once the client has cancelled the request.
    cancelled: Cancelled,
}

/// Whether the client has cancelled a request with a message, so that it waits for no answer, and why.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancelled {
    is_set: Arc<AtomicBool>,
    reason: CancelReason,
}

impl Cancelled {
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    fn set(&self) {
        self.is_set.store(true, Ordering::Release);
    }

    /// Says why, once the client has.
    pub(crate) fn reason(&self) -> CancelReason {
        self.reason.clone()
    }
}

impl ActiveRequests {
    /// Notes a request as under way; nothing if another one of this id is.
    pub(super) fn begin(&self, id: Bytes, keep: oneshot::Sender<()>) -> Option<ActiveRequest> {
        let mut active = lock(&self.0);
        if active.contains_key(&id) {
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let cancelled = Cancelled::default();
        let handle = RequestHandle {
            number,
            _keep: keep,
            cancelled: cancelled.clone(),
        };
        active.insert(id.clone(), handle);
        Some(ActiveRequest {
            all: self.clone(),
            id,
            number,
            cancelled,
        })
    }

    /// Takes note of the reason, a raw token, for which the client cancels the request of this id token.
    pub(super) fn give_reason(&self, id: &[u8], reason: &[u8]) {
        if let Some(handle) = lock(&self.0).get(id) {
            handle.cancelled.reason.give(reason);
        }
    }

    /// Cancels the request of this id token, as its client asks.
    pub(super) fn cancel(&self, id: &[u8]) {
        if let Some(handle) = lock(&self.0).remove(id) {
            // Before `handle` is dropped, which ends the call.
            handle.cancelled.set();
        }
    }

    /// Cancels all of them without a word of the client.
    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }
}

/// A request under way; dropping it ends it.
#[derive(Debug)]
pub(crate) struct ActiveRequest {
    all: ActiveRequests,
    id: Bytes,
    number: u64,
    cancelled: Cancelled,
}

impl ActiveRequest {
    /// Tells, from now on, whether the client has cancelled the request.
    pub(crate) fn cancelled(&self) -> Cancelled {
        self.cancelled.clone()
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut active = lock(&self.all.0);
        // Once cancelled, the id may be another request's.
        let ours = active.get(&self.id).map(|handle| handle.number) == Some(self.number);
        if ours {
            active.remove(&self.id);
        }
    }
}
