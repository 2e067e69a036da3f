//! The connections that clients have open. One that has not shown a key yet is worth little: there are few places for
//! those, and a newcomer takes the place of the one that has been there longest. So connections that say nothing
//! cannot keep a client out that has something to say.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Connections without a key at once. Enough for a thousand clients that connect in the same moment to a gateway on a busy
/// machine: each has to stay until its first request has been read.
const UNPROVEN: usize = 2048;
/// Connections with a key at once.
const PROVEN: usize = 4096;

/// All connections of a gateway.
#[derive(Debug)]
pub(crate) struct Visits {
    unproven: Mutex<Unproven>,
    /// Places for connections that have shown a key.
    places: Arc<Semaphore>,
    most: usize,
}

/// Connections that have not shown a key, oldest first.
#[derive(Debug, Default)]
struct Unproven {
    next: u64,
    waiting: BTreeMap<u64, Arc<Notify>>,
}

/// One connection; clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Visit(Arc<Place>);

#[derive(Debug)]
struct Place {
    number: u64,
    visits: Arc<Visits>,
    /// Told when the connection is to be closed.
    closed: Arc<Notify>,
    proven: OnceLock<OwnedSemaphorePermit>,
}

/// There is no place for another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Visits {
    pub(crate) fn new() -> Arc<Self> {
        Self::of(UNPROVEN, PROVEN)
    }

    fn of(most: usize, places: usize) -> Arc<Self> {
        Arc::new(Self {
            unproven: Mutex::default(),
            places: Arc::new(Semaphore::new(places)),
            most,
        })
    }

    /// A new connection. Says whether another had to go for it.
    pub(crate) fn admit(self: &Arc<Self>) -> (Visit, bool) {
        let closed = Arc::new(Notify::new());
        let mut unproven = self.unproven();
        let number = unproven.next;
        unproven.next += 1;
        unproven.waiting.insert(number, Arc::clone(&closed));
        let evicts = unproven.waiting.len() > self.most;
        if evicts {
            unproven.evict();
        }
        drop(unproven);
        let visit = Visit(Arc::new(Place {
            number,
            visits: Arc::clone(self),
            closed,
            proven: OnceLock::new(),
        }));
        (visit, evicts)
    }

    /// Closes the oldest connection without a key, to make room; false if there is none.
    pub(crate) fn evict(&self) -> bool {
        self.unproven().evict()
    }

    fn unproven(&self) -> std::sync::MutexGuard<'_, Unproven> {
        self.unproven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unproven {
    fn evict(&mut self) -> bool {
        let oldest = self.waiting.pop_first();
        if let Some((_, closed)) = &oldest {
            closed.notify_one();
        }
        oldest.is_some()
    }
}

impl Visit {
    /// Notes that a request on this connection had the key: from now on it is not closed for another.
    pub(crate) fn prove(&self) -> Result<(), Full> {
        let Self(place) = self;
        if place.proven.get().is_some() {
            return Ok(());
        }
        // Not there any more: it has been closed for another just now.
        let waiting = place.visits.unproven().waiting.remove(&place.number);
        let free = Arc::clone(&place.visits.places).try_acquire_owned();
        match (waiting, free) {
            (Some(_), Ok(permit)) => {
                // Requests on one connection come one after the other.
                let _twice = place.proven.set(permit);
                Ok(())
            }
            _ => Err(Full),
        }
    }

    /// Closes the connection, whatever is under way on it.
    pub(crate) fn close(&self) {
        self.0.closed.notify_one();
    }

    /// Waits until the connection is to be closed.
    pub(crate) async fn closed(&self) {
        self.0.closed.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.visits.unproven().waiting.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_closed(visit: &Visit) -> bool {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let closed = std::pin::pin!(visit.closed());
        closed.poll(&mut context).is_ready()
    }

    #[test]
    fn the_oldest_connection_without_a_key_makes_room() {
        let visits = Visits::of(2, 2);
        let (first, _) = visits.admit();
        let (second, _) = visits.admit();
        let (third, evicts) = visits.admit();
        assert!(evicts && is_closed(&first) && !is_closed(&second));
        assert_eq!(first.prove(), Err(Full));
        // One with a key stays, however many come.
        assert_eq!((second.prove(), second.prove()), (Ok(()), Ok(())));
        let (fourth, evicts) = visits.admit();
        assert!(!evicts);
        let (fifth, evicts) = visits.admit();
        assert!(evicts && is_closed(&third) && !is_closed(&second) && !is_closed(&fourth));
        // A connection that is gone leaves its place.
        drop(fourth);
        assert!(!visits.admit().1);
        assert_eq!(fifth.prove(), Ok(()));
        let (sixth, _) = visits.admit();
        assert_eq!(sixth.prove(), Err(Full), "there are two places");
        drop(second);
        assert_eq!(visits.admit().0.prove(), Ok(()));
        let (last, _) = visits.admit();
        assert!(visits.evict() && is_closed(&last) && !visits.evict());
    }
}
