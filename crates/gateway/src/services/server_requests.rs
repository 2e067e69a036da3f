//! What servers have asked of one client and the client has not answered: a completion, an answer of the user's, its roots.
//! The client knows each request by an id of ours, and its answer goes back under the server's own. An answer that is late,
//! a duplicate, or to something that was not asked is dropped.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use countersign_client::{NoteSink, Peer};
use countersign_dial::lock;

/// Requests that wait for an answer, of all servers.
const MOST: usize = 256;
/// Requests of one server that wait, so that one server does not keep the others from asking.
const MOST_OF_ONE: usize = 64;

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
    /// The life of the server that made it. A later one does not wait for the answer, and may use the same id.
    life: u64,
    /// The id that the server gave it.
    id: Bytes,
    /// The notes of the call that it belongs to, if that is known.
    call: Option<NoteSink>,
}

impl ServerRequests {
    /// Whether there is room for one more request of a server.
    pub(crate) fn has_room(&self, server: &Arc<Peer>) -> bool {
        has_room(&lock(&self.open), server)
    }

    /// Notes a request; the id for the client, or nothing if too many wait.
    pub(crate) fn add(
        &self,
        server: &Arc<Peer>,
        (life, id): (u64, Bytes),
        call: Option<NoteSink>,
    ) -> Option<Bytes> {
        let mut open = lock(&self.open);
        if !has_room(&open, server) {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let ours = Bytes::from(format!("\"server-{number}\""));
        let server = Arc::downgrade(server);
        let request = ServerRequest {
            server,
            life,
            id,
            call,
        };
        open.insert(ours.clone(), request);
        Some(ours)
    }

    /// The server that waits for this answer and its own id of the request, once.
    pub(crate) fn take(&self, ours: &Bytes) -> Option<(Arc<Peer>, Bytes)> {
        let request = lock(&self.open).remove(ours)?;
        let server = request.server.upgrade()?;
        (server.life() == request.life).then_some((server, request.id))
    }

    /// The client's id of a request that its server does not make any more, and the call that it belongs to.
    pub(crate) fn withdraw(
        &self,
        server: &Arc<Peer>,
        id: &Bytes,
    ) -> Option<(Bytes, Option<NoteSink>)> {
        let mut open = lock(&self.open);
        let is_it = |request: &ServerRequest| request.is_of(server) && request.id == id;
        let ours = open.iter().find(|(_, request)| is_it(request))?.0.clone();
        let request = open.remove(&ours)?;
        Some((ours, request.call))
    }

    /// The client's ids of requests that earlier lives of a server made: nothing waits for their answers.
    pub(crate) fn withdraw_old(&self, server: &Arc<Peer>) -> Vec<Bytes> {
        let life = server.life();
        let mut open = lock(&self.open);
        let old = open.extract_if(|_, request| request.is_of(server) && request.life != life);
        old.map(|(ours, _)| ours).collect()
    }

    /// Refuses every open request: the client is gone. Some servers end with an error if its session ends without that.
    pub(crate) fn refuse_all(&self) {
        let open = std::mem::take(&mut *lock(&self.open));
        for request in open.into_values() {
            if let Some(server) = request.server.upgrade()
                && server.life() == request.life
            {
                server.refuse(&request.id, "the client has gone");
            }
        }
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

fn has_room(open: &HashMap<Bytes, ServerRequest>, server: &Arc<Peer>) -> bool {
    let of_server = open.values().filter(|request| request.is_of(server));
    open.len() < MOST && of_server.count() < MOST_OF_ONE
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
        let for_one = requests.add(&one, (0, id.clone()), None).expect("room");
        let for_other = requests.add(&other, (0, id.clone()), None).expect("room");
        assert_ne!(for_one, for_other);
        let (server, servers) = requests.take(&for_one).expect("the first answer");
        assert!(Arc::ptr_eq(&server, &one) && servers == id);
        assert!(requests.take(&for_one).is_none() && !requests.is_waited_for(&one));
        assert!(requests.withdraw(&one, &id).is_none());
        let withdrawn = requests.withdraw(&other, &id).map(|(ours, _)| ours);
        assert_eq!(withdrawn, Some(for_other.clone()));
        assert!(requests.take(&for_other).is_none());
    }

    #[test]
    fn a_server_can_only_ask_so_much() {
        let requests = ServerRequests::default();
        let ask = |server| requests.add(server, (0, Bytes::from_static(b"1")), None);
        let servers: Vec<_> = (0..=MOST / MOST_OF_ONE).map(|_| Peer::new()).collect();
        for (server, _said) in &servers[..MOST / MOST_OF_ONE] {
            assert!((0..MOST_OF_ONE).all(|_| ask(server).is_some()));
            assert!(ask(server).is_none(), "the others may still ask");
        }
        let (last, _said) = &servers[MOST / MOST_OF_ONE];
        assert!(ask(last).is_none() && !requests.has_room(last));
    }

    #[test]
    fn an_answer_to_an_earlier_life_of_a_server_goes_nowhere() {
        let requests = ServerRequests::default();
        let (server, _said) = Peer::new();
        let old = server.life().wrapping_sub(1);
        let ours = requests.add(&server, (old, Bytes::from_static(b"1")), None);
        let ours = ours.expect("room");
        assert!(requests.take(&ours).is_none());
        let old = requests.add(&server, (old, Bytes::from_static(b"1")), None);
        let new = requests.add(&server, (server.life(), Bytes::from_static(b"1")), None);
        assert_eq!(requests.withdraw_old(&server), [old.expect("room")]);
        assert!(requests.take(&new.expect("room")).is_some());
    }
}
