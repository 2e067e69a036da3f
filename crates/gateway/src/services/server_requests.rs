//! What servers have asked of one client and the client has not answered: a completion, an answer of the user's, its roots.
//! The client knows each request by an id of ours, and its answer goes back under the server's own. An answer that is late,
//! a duplicate, or to something that was not asked is dropped.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use countersign_client::{NoteSink, Peer};
use countersign_dial::lock;

/// Requests that wait for an answer; a server with more is refused.
const MOST: usize = 256;

/// The requests a client has not answered, by the id it knows them under.
#[derive(Debug, Default)]
pub(crate) struct ServerRequests {
    next: AtomicU64,
    open: Mutex<HashMap<Bytes, ServerRequest>>,
}

/// A request of a server.
#[derive(Debug)]
struct ServerRequest {
    server: Weak<Peer>,
    /// The id that the server gave it.
    id: Bytes,
    /// The notes of the call that it belongs to, if that is known.
    call: Option<NoteSink>,
}

impl ServerRequests {
    /// Notes a request; the id for the client, or nothing if too many wait.
    pub(crate) fn add(
        &self,
        server: &Arc<Peer>,
        id: Bytes,
        call: Option<NoteSink>,
    ) -> Option<Bytes> {
        let mut open = lock(&self.open);
        if open.len() >= MOST {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let ours = Bytes::from(format!("\"server-{number}\""));
        let server = Arc::downgrade(server);
        open.insert(ours.clone(), ServerRequest { server, id, call });
        Some(ours)
    }

    /// The server that waits for this answer and its own id of the request, once.
    pub(crate) fn take(&self, ours: &Bytes) -> Option<(Arc<Peer>, Bytes)> {
        let request = lock(&self.open).remove(ours)?;
        Some((request.server.upgrade()?, request.id))
    }

    /// The client's id of a request that its server does not make any more.
    pub(crate) fn withdraw(&self, server: &Arc<Peer>, id: &Bytes) -> Option<Bytes> {
        let mut open = lock(&self.open);
        let is_it = |request: &ServerRequest| request.is_of(server) && request.id == id;
        let ours = open.iter().find(|(_, request)| is_it(request))?.0.clone();
        open.remove(&ours);
        Some(ours)
    }

    /// Whether a server waits for the client.
    pub(crate) fn is_waited_for(&self, server: &Arc<Peer>) -> bool {
        lock(&self.open)
            .values()
            .any(|request| request.is_of(server))
    }

    /// Keeps the calls from timing out that a server cannot answer before the client has answered.
    pub(crate) fn renew_calls(&self, server: &Arc<Peer>) {
        let mut is_any = false;
        for request in lock(&self.open)
            .values()
            .filter(|request| request.is_of(server))
        {
            match &request.call {
                Some(call) => call.renew(),
                None => is_any = true,
            }
        }
        if is_any {
            server.keeps_the_server_waiting();
        }
    }
}

impl ServerRequest {
    fn is_of(&self, server: &Arc<Peer>) -> bool {
        std::ptr::eq(self.server.as_ptr(), Arc::as_ptr(server))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_finds_the_server_that_asked_once() {
        let requests = ServerRequests::default();
        let ((one, _first), (other, _second)) = (Peer::new(), Peer::new());
        let id = Bytes::from_static(b"7");
        let for_one = requests.add(&one, id.clone(), None).expect("room");
        let for_other = requests.add(&other, id.clone(), None).expect("room");
        assert_ne!(for_one, for_other);
        let (server, servers) = requests.take(&for_one).expect("the first answer");
        assert!(Arc::ptr_eq(&server, &one) && servers == id);
        assert!(requests.take(&for_one).is_none() && !requests.is_waited_for(&one));
        assert!(requests.withdraw(&one, &id).is_none());
        assert_eq!(requests.withdraw(&other, &id), Some(for_other.clone()));
        assert!(requests.take(&for_other).is_none());
    }

    #[test]
    fn a_server_can_only_ask_so_much() {
        let requests = ServerRequests::default();
        let (server, _said) = Peer::new();
        let ask = || requests.add(&server, Bytes::from_static(b"1"), None);
        assert!((0..MOST).all(|_| ask().is_some()));
        assert!(ask().is_none());
    }
}
