//! Sessions of the legacy era: which version was agreed on, what the client calls itself, and
//! which of its requests are under way, so that it can cancel them. A session is no credential:
//! the key is checked on every request. What is under way is in memory only; the id carries the rest, so that a gateway with
//! the same key takes over a session that it does not know.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_audit::Timestamp;
use countersign_dial::lock;
use tokio::sync::oneshot;

use countersign_client::{Peer, ServerHandle};

use super::session_id::{Claims, Nonce, SessionKey};
use super::{Level, Outbox, PrivateServer, ServerRequests};
use crate::random::token;
use crate::state::Endpoint;

/// More sessions than this, and the one that has been idle longest goes.
const MOST: usize = 10_000;
/// So many sessions that have ended are remembered, so that they are not taken over again.
const MAX_ENDED: usize = 4 * MOST;
/// More resources than this a client of a shared server does not watch.
const MAX_WATCHED: usize = 1024;
/// Tells requests of the same id apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The sessions of this process.
#[derive(Debug)]
pub(crate) struct Sessions {
    key: SessionKey,
    open: Mutex<HashMap<String, Arc<Session>>>,
    ended: Mutex<Ended>,
}

/// The sessions that have ended here, the oldest first.
#[derive(Debug, Default)]
struct Ended {
    known: HashSet<Nonce>,
    order: VecDeque<Nonce>,
}

impl Ended {
    /// False if it was there already.
    fn insert(&mut self, nonce: Nonce) -> bool {
        if !self.known.insert(nonce) {
            return false;
        }
        self.order.push_back(nonce);
        if self.order.len() > MAX_ENDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

/// One client's session.
#[derive(Debug)]
pub(crate) struct Session {
    public: String,
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
    /// Requests under way by their id token; dropping the sender cancels.
    active: Mutex<HashMap<Bytes, RequestHandle>>,
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
    pub(crate) client: Option<Arc<str>>,
    /// Where it is opened; nothing for the one client of a pipe.
    pub(crate) endpoint: Option<Endpoint>,
    /// What the client can be asked for, as it declares it.
    pub(crate) capabilities: Option<Bytes>,
}

/// Keeps a request alive. Tells it from later requests of the same id.
#[derive(Debug)]
struct RequestHandle {
    number: u64,
    _keep: oneshot::Sender<()>,
    /// Set once the client has cancelled the request.
    cancelled: Cancelled,
}

/// Whether the client has cancelled a request with a message, so that it waits for no answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancelled(Arc<AtomicBool>);

impl Cancelled {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Sessions {
    pub(crate) fn new(key: SessionKey) -> Self {
        Self {
            key,
            open: Mutex::new(HashMap::new()),
            ended: Mutex::default(),
        }
    }

    /// Opens a session; gives the id the client names it by. A gateway that does not know the session takes it over for as
    /// long as `lifetime`. `None` if the system gives no randomness.
    pub(crate) fn open(&self, new: NewSession, lifetime: Duration) -> Option<String> {
        let public = token(6)?;
        let claims = Claims::new(&new, &public, Timestamp::now(), lifetime);
        let id = self.key.issue(&claims)?;
        self.insert(&id, Session::new(new, public));
        Some(id)
    }

    /// Adds a session unless another request has just done so; gives the one that is there.
    fn insert(&self, id: &str, session: Session) -> Arc<Session> {
        let mut open = lock(&self.open);
        if let Some(known) = open.get(id) {
            return Arc::clone(known);
        }
        if open.len() >= MOST {
            self.make_room(&mut open);
        }
        let session = Arc::new(session);
        open.insert(id.to_owned(), Arc::clone(&session));
        session
    }

    /// Takes over a session that was opened by another gateway, or by this one before it was started again.
    fn adopt(&self, id: &str) -> Option<Arc<Session>> {
        let read = self.key.read(id)?;
        if read.claims.has_expired(Timestamp::now())
            || lock(&self.ended).known.contains(&read.nonce)
        {
            return None;
        }
        let new = read.claims.session()?;
        Some(self.insert(id, Session::new(new, read.claims.public)))
    }

    /// Ends a session that was taken from the open ones.
    fn close(&self, id: &str, session: &Session) {
        if let Some(read) = self.key.read(id) {
            lock(&self.ended).insert(read.nonce);
        }
        session.close();
    }

    /// Ends the sessions that have been idle for this long.
    pub(crate) fn end_idle(&self, idle: Duration) {
        let is_idle = |session: &Session| !session.is_busy() && session.used_at().elapsed() >= idle;
        let ended: Vec<(String, Arc<Session>)> = {
            let mut open = lock(&self.open);
            open.extract_if(|_, session| is_idle(session)).collect()
        };
        for (id, session) in ended {
            self.close(&id, &session);
        }
    }

    /// Ends the session that has been idle longest of those with a connection of their own to a server. False if all of
    /// them are busy.
    pub(crate) fn end_idlest_of(&self, shared: &ServerHandle) -> bool {
        let ended = {
            let mut open = lock(&self.open);
            let idle = open.iter().filter(|(_, session)| {
                !session.has_requests() && session.private_server(shared).is_some()
            });
            let idlest = idle.min_by_key(|(_, session)| session.used_at());
            let idlest = idlest.map(|(id, _)| id.clone());
            idlest.and_then(|id| open.remove_entry(&id))
        };
        ended.is_some_and(|(id, session)| {
            self.close(&id, &session);
            true
        })
    }

    /// Whether the client of any session watches a resource of a server.
    pub(crate) fn is_watched(&self, server: &Arc<str>, uri: &str) -> bool {
        let key = (Arc::clone(server), uri.to_owned());
        let open = lock(&self.open);
        open.values()
            .any(|session| lock(&session.watched).contains_key(&key))
    }

    /// The session of this id, if it is still open or can be taken over.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let known = lock(&self.open).get(id).cloned();
        let session = known.or_else(|| self.adopt(id))?;
        *lock(&session.used) = Instant::now();
        Some(session)
    }

    /// Ends a session and what is under way in it; false if there is none.
    pub(crate) fn end(&self, id: &str) -> bool {
        let session = lock(&self.open).remove(id);
        // One of another gateway is at least not taken over here.
        let session = session.or_else(|| {
            self.adopt(id)?;
            lock(&self.open).remove(id)
        });
        session.is_some_and(|session| {
            self.close(id, &session);
            true
        })
    }

    /// Ends what has been idle longest.
    fn make_room(&self, open: &mut HashMap<String, Arc<Session>>) {
        let oldest = open.iter().min_by_key(|(_, session)| session.used_at());
        if let Some(oldest) = oldest {
            let id = oldest.0.clone();
            if let Some(session) = open.remove(&id) {
                self.close(&id, &session);
            }
        }
    }
}

impl Session {
    fn new(new: NewSession, public: String) -> Self {
        Self {
            public,
            client: new.client,
            endpoint: new.endpoint,
            capabilities: new.capabilities,
            used: Mutex::new(Instant::now()),
            private: Mutex::default(),
            server_requests: ServerRequests::default(),
            outbox: Outbox::default(),
            watched: Mutex::default(),
            active: Mutex::new(HashMap::new()),
            listening: Mutex::new(None),
            level: AtomicU8::new(Level::default().code()),
            shown: Mutex::new(None),
        }
    }

    /// A name for records; unlike the id it gives no access.
    pub(crate) fn public(&self) -> &str {
        &self.public
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
    fn used_at(&self) -> Instant {
        *lock(&self.used)
    }

    fn has_requests(&self) -> bool {
        !lock(&self.active).is_empty()
    }

    /// Whether the client waits for something.
    fn is_busy(&self) -> bool {
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
            Endpoint::Server(name) => lock(&self.private).contains_key(name),
            Endpoint::Router | Endpoint::Direct => false,
        }
    }

    /// Notes that the client watches a resource; not more than there is room for.
    pub(crate) fn watch(&self, resource: WatchedResource) {
        let mut watched = lock(&self.watched);
        if watched.len() < MAX_WATCHED {
            watched.insert((resource.server, resource.uri), resource.shown);
        }
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
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: Bytes,
        keep: oneshot::Sender<()>,
    ) -> Option<ActiveRequest> {
        let mut active = lock(&self.active);
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
            session: Arc::clone(self),
            id,
            number,
            cancelled,
        })
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
    fn close(&self) {
        lock(&self.active).clear();
        drop(lock(&self.listening).take());
        lock(&self.private).clear();
    }

    /// Cancels the request of this id token, as its client asks.
    pub(crate) fn cancel(&self, id: &[u8]) {
        if let Some(handle) = lock(&self.active).remove(id) {
            // Before `handle` is dropped, which ends the call.
            handle.cancelled.set();
        }
    }
}

/// A request under way in a session; dropping it ends it.
#[derive(Debug)]
pub(crate) struct ActiveRequest {
    session: Arc<Session>,
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
        let mut active = lock(&self.session.active);
        // Once cancelled, the id may be another request's.
        let ours = active.get(&self.id).map(|handle| handle.number) == Some(self.number);
        if ours {
            active.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn sessions() -> Sessions {
        Sessions::new(SessionKey::new("a key of two gateways").expect("a key"))
    }

    fn new_session() -> NewSession {
        NewSession {
            client: Some("a client".into()),
            endpoint: Some(Endpoint::Server("x".into())),
            capabilities: Some(Bytes::from_static(b"{}")),
        }
    }

    #[test]
    fn a_session_goes_on_at_another_gateway_until_it_ends_there() {
        let (first, second) = (sessions(), sessions());
        let id = first.open(new_session(), DAY).expect("randomness");
        let session = first.find(&id).expect("open");
        let adopted = second.find(&id).expect("taken over");
        assert_eq!(adopted.public(), session.public());
        assert!(adopted.is_at("x") && !adopted.is_pipe());
        assert_eq!(adopted.client.as_deref(), Some("a client"));
        assert!(Arc::ptr_eq(&adopted, &second.find(&id).expect("open")));
        assert!(second.end(&id) && second.find(&id).is_none() && !second.end(&id));
        // One that never came here can be ended as well, and is not taken over after that.
        let third = sessions();
        assert!(third.end(&id) && third.find(&id).is_none());
        let stranger = Sessions::new(SessionKey::new("another key").expect("a key"));
        assert!(stranger.find(&id).is_none() && !stranger.end(&id));
    }

    #[test]
    fn a_session_that_was_idle_too_long_or_is_too_old_is_not_taken_over() {
        let sessions = sessions();
        let id = sessions.open(new_session(), DAY).expect("randomness");
        sessions.end_idle(Duration::ZERO);
        assert!(sessions.find(&id).is_none());
        let old = sessions
            .open(new_session(), Duration::ZERO)
            .expect("randomness");
        assert!(sessions.find(&old).is_some(), "still open here");
        assert!(self::sessions().find(&old).is_none());
    }

    #[tokio::test]
    async fn a_request_can_be_cancelled_and_ids_do_not_collide() {
        let sessions = sessions();
        let token = sessions
            .open(NewSession::default(), DAY)
            .expect("randomness");
        let session = sessions.find(&token).expect("open");
        assert!(!token.contains(session.public()));
        let id = Bytes::from_static(b"\"a\"");
        let (keep, gone) = oneshot::channel();
        let active = session.begin(id.clone(), keep).expect("the only one");
        let (again, _) = oneshot::channel();
        assert!(session.begin(id.clone(), again).is_none());
        session.cancel(b"\"b\"");
        assert!(!active.cancelled().is_set());
        session.cancel(&id);
        assert!(gone.await.is_err() && active.cancelled().is_set());
        let (keep, mut gone) = oneshot::channel();
        let _again = session.begin(id, keep).expect("the id is free again");
        drop(active);
        assert!(gone.try_recv() == Err(oneshot::error::TryRecvError::Empty));
    }

    #[tokio::test]
    async fn a_session_has_one_stream_of_news() {
        let sessions = sessions();
        let token = sessions
            .open(NewSession::default(), DAY)
            .expect("randomness");
        let session = sessions.find(&token).expect("open");
        let first = session.listen();
        let second = session.listen();
        assert!(first.await.is_err());
        sessions.end(&token);
        assert!(second.await.is_err());
        session.set_level(Level::SILENT);
        assert_eq!(session.level(), Level::SILENT);
    }

    #[tokio::test]
    async fn the_end_of_a_session_cancels_what_is_under_way() {
        let sessions = sessions();
        let token = sessions
            .open(NewSession::default(), DAY)
            .expect("randomness");
        let session = sessions.find(&token).expect("open");
        let (keep, gone) = oneshot::channel();
        let active = session.begin(Bytes::from_static(b"1"), keep);
        assert!(sessions.end(&token) && !sessions.end(&token));
        assert!(gone.await.is_err());
        // Its client did not say that it waits for no answer.
        assert!(!active.expect("the only one").cancelled().is_set());
        assert!(sessions.find(&token).is_none());
    }

    #[test]
    fn sessions_are_bounded() {
        let sessions = sessions();
        let first = sessions
            .open(NewSession::default(), DAY)
            .expect("randomness");
        for _ in 0..MOST {
            sessions
                .open(NewSession::default(), DAY)
                .expect("randomness");
        }
        assert_eq!(lock(&sessions.open).len(), MOST);
        assert!(sessions.find(&first).is_none());
    }
}
