//! Sessions of the legacy era: which version was agreed on, what the client calls itself, and
//! which of its requests are under way, so that it can cancel them. A session is no credential:
//! the key is checked on every request. Sessions are in memory only; another gateway answers 404.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_dial::lock;
use tokio::sync::oneshot;

use super::Level;
use crate::random::token;
use crate::state::Endpoint;

/// More sessions than this, and the one that has been idle longest goes.
const MOST: usize = 10_000;
/// A session that is not used ends after this long.
const IDLE: Duration = Duration::from_hours(4);
/// Tells requests of the same id apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The sessions of this process.
#[derive(Debug)]
pub(crate) struct Sessions {
    instance: String,
    open: Mutex<HashMap<String, Arc<Session>>>,
}

/// One client's session.
#[derive(Debug)]
pub(crate) struct Session {
    public: String,
    pub(crate) client: Option<Arc<str>>,
    used: Mutex<Instant>,
    /// Requests under way by their id token; dropping the sender cancels.
    active: Mutex<HashMap<Bytes, RequestHandle>>,
    /// The one stream of changes; dropping the sender ends it.
    listening: Mutex<Option<oneshot::Sender<()>>>,
    /// From which level on log messages are heard.
    level: AtomicU8,
    /// The list that was shown last: where, and its revision.
    shown: Mutex<Option<(Endpoint, u64)>>,
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
    pub(crate) fn new() -> Self {
        Self {
            instance: token(4).unwrap_or_default(),
            open: Mutex::new(HashMap::new()),
        }
    }

    /// Opens a session; gives the token the client names it by. `None` if the system gives no randomness.
    pub(crate) fn open(&self, client: Option<Arc<str>>) -> Option<String> {
        let name = format!("{}-{}", self.instance, token(16)?);
        let session = Session {
            public: token(6)?,
            client,
            used: Mutex::new(Instant::now()),
            active: Mutex::new(HashMap::new()),
            listening: Mutex::new(None),
            level: AtomicU8::new(Level::default().code()),
            shown: Mutex::new(None),
        };
        let mut open = lock(&self.open);
        if open.len() >= MOST {
            make_room(&mut open);
        }
        open.insert(name.clone(), Arc::new(session));
        Some(name)
    }

    /// The session of this token, if it is still open.
    pub(crate) fn find(&self, token: &str) -> Option<Arc<Session>> {
        let session = lock(&self.open).get(token).cloned()?;
        *lock(&session.used) = Instant::now();
        Some(session)
    }

    /// Ends a session and what is under way in it; false if there is none.
    pub(crate) fn end(&self, token: &str) -> bool {
        let session = lock(&self.open).remove(token);
        session.is_some_and(|session| {
            session.close();
            true
        })
    }
}

/// Ends what has been idle too long, and if that is nothing, what has been idle longest.
fn make_room(open: &mut HashMap<String, Arc<Session>>) {
    let used = |session: &Session| *lock(&session.used);
    open.retain(|_, session| {
        let stays = used(session).elapsed() < IDLE;
        if !stays {
            session.close();
        }
        stays
    });
    if open.len() >= MOST
        && let Some(oldest) = open.iter().min_by_key(|(_, session)| used(session))
    {
        let oldest = oldest.0.clone();
        if let Some(session) = open.remove(&oldest) {
            session.close();
        }
    }
}

impl Session {
    /// A name for records; unlike the token it gives no access.
    pub(crate) fn public(&self) -> &str {
        &self.public
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
    pub(crate) fn shown(&self, endpoint: &Endpoint) -> Option<u64> {
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

    #[tokio::test]
    async fn a_request_can_be_cancelled_and_ids_do_not_collide() {
        let sessions = Sessions::new();
        let token = sessions.open(None).expect("randomness");
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
        let sessions = Sessions::new();
        let token = sessions.open(None).expect("randomness");
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
        let sessions = Sessions::new();
        let token = sessions.open(None).expect("randomness");
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
        let sessions = Sessions::new();
        let first = sessions.open(None).expect("randomness");
        for _ in 0..MOST {
            sessions.open(None).expect("randomness");
        }
        assert_eq!(lock(&sessions.open).len(), MOST);
        assert!(sessions.find(&first).is_none());
    }
}
