//! The requests that wait for an answer. The table owns the reply slots: an answer is handed over once, and
//! an answer that comes late, twice or without a request is counted and dropped. Ids are never used again.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::Bytes;
use countersign_dial::lock;
use tokio::sync::oneshot;

use crate::error::Error;
use crate::notes::NoteSink;

/// What a waiting request gets: the line that answers it, or why there is none.
pub(crate) type AnswerResult = Result<Bytes, Error>;
/// Brings the answer, and when it came.
pub(crate) type AnswerReceiver = oneshot::Receiver<(AnswerResult, Instant)>;

/// The requests that have been sent and not been answered.
#[derive(Debug)]
pub(crate) struct Pending {
    next: AtomicU64,
    /// `None` once the connection is lost.
    slots: Mutex<Option<Slots>>,
}

type Slots = HashMap<u64, WaitingRequest>;

/// A request that waits for its answer.
#[derive(Debug)]
struct WaitingRequest {
    answer: oneshot::Sender<(AnswerResult, Instant)>,
    notes: NoteSink,
}

impl Pending {
    pub(crate) fn new() -> Self {
        Self {
            next: AtomicU64::new(1),
            slots: Mutex::new(Some(HashMap::new())),
        }
    }

    /// A slot under a new id; nothing if the connection is lost.
    pub(crate) fn open(&self, notes: &NoteSink) -> Option<(u64, AnswerReceiver)> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        Some((id, self.insert(id, notes)?))
    }

    /// A slot under an id that was not used before.
    pub(crate) fn insert(&self, id: u64, notes: &NoteSink) -> Option<AnswerReceiver> {
        let (answer, receiver) = oneshot::channel();
        let notes = notes.clone();
        lock(&self.slots)
            .as_mut()?
            .insert(id, WaitingRequest { answer, notes });
        Some(receiver)
    }

    /// Hands an answer over; false if no request waits for it.
    pub(crate) fn settle(&self, id: u64, answer: AnswerResult) -> bool {
        let slot = lock(&self.slots)
            .as_mut()
            .and_then(|slots| slots.remove(&id));
        slot.is_some_and(|slot| slot.answer.send((answer, Instant::now())).is_ok())
    }

    /// Where notes about this request go, if it still waits.
    pub(crate) fn notes(&self, id: u64) -> Option<NoteSink> {
        Some(lock(&self.slots).as_ref()?.get(&id)?.notes.clone())
    }

    /// Where notes go that can only be about the one request there is.
    pub(crate) fn only_notes(&self) -> Option<NoteSink> {
        let slots = lock(&self.slots);
        let mut live = slots.as_ref()?.values().filter(|slot| slot.notes.is_open());
        let only = live.next()?.notes.clone();
        live.next().is_none().then_some(only)
    }

    /// Where notes of the newest request go that has a reader for them.
    pub(crate) fn any_notes(&self) -> Option<NoteSink> {
        let slots = lock(&self.slots);
        let live = slots
            .as_ref()?
            .iter()
            .filter(|(_, slot)| slot.notes.is_open());
        let (_, newest) = live.max_by_key(|(id, _)| **id)?;
        Some(newest.notes.clone())
    }

    /// Renews the time-out of every request that waits.
    pub(crate) fn renew(&self) {
        for slot in lock(&self.slots).iter().flat_map(HashMap::values) {
            slot.notes.renew();
        }
    }

    /// Takes a slot back; false if it was answered already.
    pub(crate) fn withdraw(&self, id: u64) -> bool {
        let slot = lock(&self.slots)
            .as_mut()
            .and_then(|slots| slots.remove(&id));
        slot.is_some()
    }

    /// Gives up every slot: requests that wait learn that the connection is lost.
    pub(crate) fn close(&self) {
        let slots = lock(&self.slots).take();
        drop(slots);
    }

    /// Whether the connection is lost.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.slots).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_is_handed_over_once() {
        let pending = Pending::new();
        let (first, one) = pending.open(&NoteSink::closed()).expect("open");
        let (second, other) = pending.open(&NoteSink::closed()).expect("open");
        assert_ne!(first, second);
        assert!(pending.settle(second, Ok(Bytes::from_static(b"two"))));
        assert!(!pending.settle(second, Ok(Bytes::from_static(b"again"))));
        assert!(!pending.settle(99, Err(Error::Lost)));
        let (answer, _) = other.await.expect("an answer");
        assert_eq!(answer, Ok(Bytes::from_static(b"two")));
        assert!(pending.withdraw(first));
        assert!(!pending.withdraw(first));
        assert!(one.await.is_err());
    }

    #[tokio::test]
    async fn a_lost_connection_tells_everybody() {
        let pending = Pending::new();
        let (_, waiting) = pending.open(&NoteSink::closed()).expect("open");
        pending.close();
        assert!(waiting.await.is_err());
        assert!(pending.open(&NoteSink::closed()).is_none());
    }
}
