//! One session of the legacy era: what the client calls itself and can be asked for, its connections to servers, and what it
//! waits for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use countersign_client::{Peer, ServerHandle};
use countersign_dial::lock;
use tokio::sync::oneshot;

use super::active_requests::{ActiveRequest, ActiveRequests};
use super::{Level, Outbox, PrivateServer, ServerRequests};
use crate::state::Endpoint;

/// More resources than this a client does not watch.
const MAX_WATCHED: usize = 1024;
/// Nor resources whose addresses take more memory than this.
const MAX_WATCHED_BYTES: usize = 1 << 20;

/// One client's session.
#[derive(Debug)]
pub(crate) struct Session {
    public: String,
    /// The name of the caller that it belongs to.
    caller: Arc<str>,
    pub(crate) client: Option<Arc<str>>,
    /// Where it was opened; nothing for the one client of a pipe.
    endpoint: Option<Endpoint>,
    /// What the client can be asked for, as it declared it.
    capabilities: Option<Bytes>,
    used: Mutex<Instant>,
    /// The connections to servers that belong to this client alone.
    private: Mutex<HashMap<Arc<str>, Arc<PrivateServer>>>,
    /// What servers have asked of the client.
    pub(crate) server_requests: ServerRequests,
    /// What the client is told outside of its calls.
    pub(crate) outbox: Outbox,
    /// The resources that the client watches, by server and the server's own address, with the address that the client knows.
    watched: Mutex<HashMap<(Arc<str>, String), String>>,
    active: ActiveRequests,
    /// The one stream of changes; dropping the sender ends it.
    listening: Mutex<Option<oneshot::Sender<()>>>,
    /// From which level on log messages are heard.
    level: AtomicU8,
    /// The list that was shown last: where, and its revision.
    shown: Mutex<Option<(Endpoint, u64)>>,
}

/// A resource that a client watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchedResource {
    pub(crate) server: Arc<str>,
    /// The address that the server knows it by.
    pub(crate) uri: String,
    /// The address that the client knows it by.
    pub(crate) shown: String,
}

/// What is known of a client when its session begins.
#[derive(Debug, Default)]
pub(crate) struct NewSession {
    /// The name of the caller that opens it.
    pub(crate) caller: Arc<str>,
    pub(crate) client: Option<Arc<str>>,
    /// Where it is opened; nothing for the one client of a pipe.
    pub(crate) endpoint: Option<Endpoint>,
    /// What the client can be asked for, as it declares it.
    pub(crate) capabilities: Option<Bytes>,
}

impl Session {
    /// A session that has just begun, or was taken over.
    pub(super) fn new(new: NewSession, public: String) -> Self {
        Self {
            public,
            caller: new.caller,
            client: new.client,
            endpoint: new.endpoint,
            capabilities: new.capabilities,
            used: Mutex::new(Instant::now()),
            private: Mutex::default(),
            server_requests: ServerRequests::default(),
            outbox: Outbox::default(),
            watched: Mutex::default(),
            active: ActiveRequests::default(),
            listening: Mutex::new(None),
            level: AtomicU8::new(Level::default().code()),
            shown: Mutex::new(None),
        }
    }

    /// A name for records; unlike the id it gives no access.
    pub(crate) fn public(&self) -> &str {
        &self.public
    }

    /// The name of the caller that it belongs to.
    pub(crate) fn caller(&self) -> &str {
        &self.caller
    }

    /// Whether its client holds the other end of a pipe, so that it shares nothing with other clients.
    pub(crate) fn is_pipe(&self) -> bool {
        self.endpoint.is_none()
    }

    /// Whether it was opened at the endpoint of this server alone.
    pub(crate) fn is_at(&self, server: &str) -> bool {
        self.may_hear_of(server) && !self.is_merged()
    }

    /// Whether its client may hear what changed at this server besides tools.
    pub(crate) fn may_hear_of(&self, server: &str) -> bool {
        match &self.endpoint {
            None | Some(Endpoint::Router | Endpoint::Direct) => true,
            Some(Endpoint::Server(name)) => **name == *server,
        }
    }

    /// Whether it was opened where several servers are shown as one.
    pub(crate) fn is_merged(&self) -> bool {
        matches!(self.endpoint, Some(Endpoint::Router | Endpoint::Direct))
    }

    /// What the client can be asked for, as it declared it.
    pub(crate) fn capabilities(&self) -> Option<&Bytes> {
        self.capabilities.as_ref()
    }

    /// When the client last sent something.
    pub(super) fn used_at(&self) -> Instant {
        *lock(&self.used)
    }

    /// Notes that the client has just sent something.
    pub(super) fn mark_used(&self) {
        *lock(&self.used) = Instant::now();
    }

    /// Whether requests of the client are under way.
    pub(super) fn has_requests(&self) -> bool {
        !self.active.is_empty()
    }

    /// Whether the client waits for something.
    pub(super) fn is_busy(&self) -> bool {
        self.has_requests() || self.has_stream()
    }

    /// Whether the client has a stream open for what it is told outside of its calls.
    pub(crate) fn has_stream(&self) -> bool {
        let is_open = |stream: &oneshot::Sender<()>| !stream.is_closed();
        self.is_pipe() || lock(&self.listening).as_ref().is_some_and(is_open)
    }

    /// The connection of its own that the client has to the server behind a shared one.
    pub(crate) fn private_server(&self, shared: &ServerHandle) -> Option<Arc<PrivateServer>> {
        let private = lock(&self.private).get(shared.name()).cloned();
        private.filter(|private| private.belongs_to(shared))
    }

    /// The same, or the one that `start` makes. Another connection of this name is dropped.
    pub(crate) fn private_server_or<E>(
        &self,
        shared: &ServerHandle,
        start: impl FnOnce() -> Result<Arc<PrivateServer>, E>,
    ) -> Result<Arc<PrivateServer>, E> {
        let mut all = lock(&self.private);
        let known = all.get(shared.name());
        if let Some(known) = known.filter(|private| private.belongs_to(shared)) {
            return Ok(Arc::clone(known));
        }
        let private = start()?;
        all.insert(Arc::clone(shared.name()), Arc::clone(&private));
        Ok(private)
    }

    /// The client as the servers see it to which it has connections of its own: that of one server, or all.
    pub(crate) fn peers(&self, server: Option<&str>) -> Vec<Arc<Peer>> {
        let private = lock(&self.private);
        let wanted = private
            .iter()
            .filter(|(name, _)| server.is_none_or(|server| ***name == *server));
        wanted
            .map(|(_, private)| Arc::clone(&private.peer))
            .collect()
    }

    /// Whether the server behind an endpoint shows the client a list of its own.
    pub(crate) fn has_own_list(&self, endpoint: &Endpoint) -> bool {
        match endpoint {
            Endpoint::Server(name) => {
                let private = lock(&self.private);
                let private = private.get(name);
                private.is_some_and(|private| private.has_own_list())
            }
            Endpoint::Router | Endpoint::Direct => false,
        }
    }

    /// Notes that the client watches a resource; false if there is no room for one more.
    pub(crate) fn watch(&self, resource: WatchedResource) -> bool {
        let mut watched = lock(&self.watched);
        let key = (resource.server, resource.uri);
        if watched.contains_key(&key) {
            return true;
        }
        let bytes = key.1.len() + resource.shown.len();
        let taken = watched
            .iter()
            .map(|((_, uri), shown)| uri.len() + shown.len());
        if watched.len() >= MAX_WATCHED || taken.sum::<usize>() + bytes > MAX_WATCHED_BYTES {
            return false;
        }
        watched.insert(key, resource.shown);
        true
    }

    /// Notes that the client does not watch a resource any more.
    pub(crate) fn unwatch(&self, server: &Arc<str>, uri: &str) {
        lock(&self.watched).remove(&(Arc::clone(server), uri.to_owned()));
    }

    /// The address that the client knows a resource of a server by, if it watches it.
    pub(crate) fn watched_as(&self, server: &Arc<str>, uri: &str) -> Option<String> {
        let watched = lock(&self.watched);
        watched.get(&(Arc::clone(server), uri.to_owned())).cloned()
    }

    /// Notes a request as under way; nothing if another one of this id is.
    pub(crate) fn begin(&self, id: Bytes, keep: oneshot::Sender<()>) -> Option<ActiveRequest> {
        self.active.begin(id, keep)
    }

    /// Starts the session's stream of changes, which ends when this resolves. An older stream of the session ends, because
    /// its client has most likely lost it.
    pub(crate) fn listen(&self) -> oneshot::Receiver<()> {
        let (keep, ended) = oneshot::channel();
        drop(lock(&self.listening).replace(keep));
        ended
    }

    /// Takes note of the list that the client is shown.
    pub(crate) fn show(&self, endpoint: &Endpoint, revision: u64) {
        *lock(&self.shown) = Some((endpoint.clone(), revision));
    }

    /// The revision of the list that the client was shown there, if it was.
    pub(crate) fn shown_revision(&self, endpoint: &Endpoint) -> Option<u64> {
        let shown = lock(&self.shown);
        let (_, revision) = shown.as_ref().filter(|(at, _)| at == endpoint)?;
        Some(*revision)
    }

    /// From which level on the client hears log messages.
    pub(crate) fn level(&self) -> Level {
        Level::from_code(self.level.load(Ordering::Relaxed))
    }

    /// Sets that level.
    pub(crate) fn set_level(&self, level: Level) {
        self.level.store(level.code(), Ordering::Relaxed);
    }

    /// Ends everything that belongs to the session.
    pub(super) fn close(&self) {
        self.active.clear();
        drop(lock(&self.listening).take());
        self.server_requests.refuse_all();
        lock(&self.private).clear();
    }

    /// Takes note of the reason, a raw token, for which the client cancels the request of this id token.
    pub(crate) fn give_reason(&self, id: &[u8], reason: &[u8]) {
        self.active.give_reason(id, reason);
    }

    /// Cancels the request of this id token, as its client asks.
    pub(crate) fn cancel(&self, id: &[u8]) {
        self.active.cancel(id);
    }
}
