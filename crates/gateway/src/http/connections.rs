//! The connections that clients have open. There are few places for connections that have not shown a key yet, and a
//! new connection takes the place of the oldest of them. So silent connections cannot keep clients with a key out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use countersign_dial::lock;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Connections without a key at once. Enough for a thousand clients that connect in the same moment to a gateway on a busy
/// machine: each has to stay until its first request has been read.
const MAX_PENDING: usize = 2048;
/// Connections with a key at once.
const MAX_KEPT: usize = 4096;

/// All connections of a gateway.
#[derive(Debug)]
pub(crate) struct Connections {
    pending: Mutex<Pending>,
    /// Places for connections that have shown a key.
    places: Arc<Semaphore>,
    most: usize,
}

/// Connections that have not shown a key, oldest first.
#[derive(Debug, Default)]
struct Pending {
    next: u64,
    waiting: BTreeMap<u64, Arc<Notify>>,
}

/// One connection; clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct ClientConnection(Arc<ConnectionState>);

/// What the clones of a connection share.
#[derive(Debug)]
struct ConnectionState {
    number: u64,
    connections: Arc<Connections>,
    /// Notified when the connection is to be closed.
    closed: Arc<Notify>,
    permit: OnceLock<OwnedSemaphorePermit>,
}

/// There is no place for another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionsFull;

impl Connections {
    pub(crate) fn new() -> Arc<Self> {
        Self::with_limits(MAX_PENDING, MAX_KEPT)
    }

    fn with_limits(most: usize, places: usize) -> Arc<Self> {
        Arc::new(Self {
            pending: Mutex::default(),
            places: Arc::new(Semaphore::new(places)),
            most,
        })
    }

    /// A new connection, and whether another one was closed for it.
    pub(crate) fn admit(self: &Arc<Self>) -> (ClientConnection, bool) {
        let closed = Arc::new(Notify::new());
        let mut pending = lock(&self.pending);
        let number = pending.next;
        pending.next += 1;
        pending.waiting.insert(number, Arc::clone(&closed));
        let evicts = pending.waiting.len() > self.most;
        if evicts {
            pending.evict();
        }
        drop(pending);
        let client = ClientConnection(Arc::new(ConnectionState {
            number,
            connections: Arc::clone(self),
            closed,
            permit: OnceLock::new(),
        }));
        (client, evicts)
    }

    /// Closes the oldest connection without a key, to make room; false if there is none.
    pub(crate) fn evict(&self) -> bool {
        lock(&self.pending).evict()
    }
}

impl Pending {
    fn evict(&mut self) -> bool {
        let oldest = self.waiting.pop_first();
        if let Some((_, closed)) = &oldest {
            closed.notify_one();
        }
        oldest.is_some()
    }
}

impl ClientConnection {
    /// Notes that a request on this connection had the key: from now on it is not closed for another.
    pub(crate) fn keep(&self) -> Result<(), ConnectionsFull> {
        let Self(place) = self;
        if place.permit.get().is_some() {
            return Ok(());
        }
        // Not there any more: it has been closed for another just now.
        let waiting = lock(&place.connections.pending)
            .waiting
            .remove(&place.number);
        let free = Arc::clone(&place.connections.places).try_acquire_owned();
        match (waiting, free) {
            (Some(_), Ok(permit)) => {
                // Requests on one connection come one after the other.
                let _twice = place.permit.set(permit);
                Ok(())
            }
            _ => Err(ConnectionsFull),
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

impl Drop for ConnectionState {
    fn drop(&mut self) {
        lock(&self.connections.pending).waiting.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_closed(client: &ClientConnection) -> bool {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let closed = std::pin::pin!(client.closed());
        closed.poll(&mut context).is_ready()
    }

    #[test]
    fn the_oldest_connection_without_a_key_makes_room() {
        let connections = Connections::with_limits(2, 2);
        let (first, _) = connections.admit();
        let (second, _) = connections.admit();
        let (third, evicts) = connections.admit();
        assert!(evicts && is_closed(&first) && !is_closed(&second));
        assert_eq!(first.keep(), Err(ConnectionsFull));
        // One with a key stays, however many come.
        assert_eq!((second.keep(), second.keep()), (Ok(()), Ok(())));
        let (fourth, evicts) = connections.admit();
        assert!(!evicts);
        let (fifth, evicts) = connections.admit();
        assert!(evicts && is_closed(&third) && !is_closed(&second) && !is_closed(&fourth));
        // A connection that is gone leaves its place.
        drop(fourth);
        assert!(!connections.admit().1);
        assert_eq!(fifth.keep(), Ok(()));
        let (sixth, _) = connections.admit();
        assert_eq!(sixth.keep(), Err(ConnectionsFull), "there are two places");
        drop(second);
        assert_eq!(connections.admit().0.keep(), Ok(()));
        let (last, _) = connections.admit();
        assert!(connections.evict() && is_closed(&last) && !connections.evict());
    }
}
