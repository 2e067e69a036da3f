//! The sessions of the legacy era that are open in this process. A session is no credential: the key is checked on every
//! request. What is under way is in memory only; the id carries the rest, so that a gateway with the same key takes over a
//! session that it does not know.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_audit::Timestamp;
use countersign_client::ServerHandle;
use countersign_dial::lock;

use super::session::{NewSession, Session};
use super::session_id::{Claims, Nonce, SessionKey};
use crate::random::token;

/// More sessions than this, and the one that has been idle longest goes.
const MOST: usize = 10_000;
/// So many sessions that have ended are remembered, so that they are not taken over again.
const MAX_ENDED: usize = 4 * MOST;

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

impl Sessions {
    pub(crate) fn new(key: SessionKey) -> Self {
        Self {
            key,
            open: Mutex::new(HashMap::new()),
            ended: Mutex::default(),
        }
    }

    /// A request state of a server as only this caller can send it back.
    pub(crate) fn bind_state(&self, caller: &str, state: &str) -> String {
        self.key.bind_state(caller, state)
    }

    /// The server's own request state, if it was bound to this caller.
    pub(crate) fn release_state<'a>(&self, caller: &str, bound: &'a str) -> Option<&'a str> {
        self.key.release_state(caller, bound)
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
    fn adopt(&self, id: &str, caller: &str) -> Option<Arc<Session>> {
        let read = self.key.read(id)?;
        if read.claims.caller != caller
            || read.claims.has_expired(Timestamp::now())
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
        self.end_all(|session| !session.is_busy() && session.used_at().elapsed() >= idle);
    }

    /// Ends the sessions of callers that are not known any more, and what is under way in them.
    pub(crate) fn end_revoked(&self, is_known: impl Fn(&str) -> bool) {
        self.end_all(|session| !is_known(session.caller()));
    }

    fn end_all(&self, is_over: impl Fn(&Session) -> bool) {
        let ended: Vec<(String, Arc<Session>)> = {
            let mut open = lock(&self.open);
            open.extract_if(|_, session| is_over(session)).collect()
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
            let connected = |session: &Session| session.private_server(shared).is_some();
            let idlest = idlest(&open, connected, |session| !session.has_requests());
            idlest.and_then(|id| open.remove_entry(&id))
        };
        ended.is_some_and(|(id, session)| {
            self.close(&id, &session);
            true
        })
    }

    /// Whether the client of any session watches a resource of a server.
    pub(crate) fn is_watched(&self, server: &Arc<str>, uri: &str) -> bool {
        let open = lock(&self.open);
        open.values()
            .any(|session| session.watched_as(server, uri).is_some())
    }

    /// The caller's session of this id, if it is still open or can be taken over.
    pub(crate) fn find(&self, id: &str, caller: &str) -> Option<Arc<Session>> {
        let known = lock(&self.open).get(id).cloned();
        let session = known.or_else(|| self.adopt(id, caller))?;
        if session.caller() != caller {
            return None;
        }
        session.mark_used();
        Some(session)
    }

    /// Ends a session of the caller and what is under way in it; false if there is none. One of another gateway is at least
    /// not taken over here.
    pub(crate) fn end(&self, id: &str, caller: &str) -> bool {
        let session = self.find(id, caller);
        let session = session.and_then(|_| lock(&self.open).remove(id));
        session.is_some_and(|session| {
            self.close(id, &session);
            true
        })
    }

    /// Ends a session: one that waits for nothing, if there is one.
    fn make_room(&self, open: &mut HashMap<String, Arc<Session>>) {
        let every = |_: &Session| true;
        let chosen = idlest(open, every, |session| !session.is_busy());
        let chosen = chosen.or_else(|| idlest(open, every, every));
        if let Some(id) = chosen
            && let Some(session) = open.remove(&id)
        {
            self.close(&id, &session);
        }
    }

    /// Refuses everything that servers have asked and clients have not answered, because the gateway stops.
    pub(crate) fn refuse_server_requests(&self) {
        let open: Vec<Arc<Session>> = lock(&self.open).values().cloned().collect();
        for session in open {
            session.server_requests.refuse_all();
        }
    }
}

/// The id of the session to end among those that are `counted`: of the caller that has the most of them, so that no caller
/// pushes others out, the one that has been idle longest and `may_end`. Another caller's if that caller has none.
fn idlest(
    open: &HashMap<String, Arc<Session>>,
    counted: impl Fn(&Session) -> bool,
    may_end: impl Fn(&Session) -> bool,
) -> Option<String> {
    let mut of_callers: HashMap<&str, usize> = HashMap::new();
    let all: Vec<_> = open.iter().filter(|(_, one)| counted(one)).collect();
    for (_, session) in &all {
        *of_callers.entry(session.caller()).or_default() += 1;
    }
    let candidates = all.into_iter().filter(|(_, session)| may_end(session));
    let chosen = candidates.min_by_key(|(_, session)| {
        let others = of_callers.get(session.caller()).copied();
        (std::cmp::Reverse(others), session.used_at())
    });
    chosen.map(|(id, _)| id.clone())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use tokio::sync::oneshot;

    use super::super::Level;
    use super::*;
    use crate::state::Endpoint;

    const ME: &str = "key:client";
    const DAY: Duration = Duration::from_hours(24);

    fn sessions() -> Sessions {
        Sessions::new(SessionKey::new("a key of two gateways").expect("a key"))
    }

    fn new_session() -> NewSession {
        NewSession {
            caller: ME.into(),
            client: Some("a client".into()),
            endpoint: Some(Endpoint::Server("x".into())),
            capabilities: Some(Bytes::from_static(b"{}")),
        }
    }

    #[test]
    fn a_session_goes_on_at_another_gateway_until_it_ends_there() {
        let (first, second) = (sessions(), sessions());
        let id = first.open(new_session(), DAY).expect("randomness");
        let session = first.find(&id, ME).expect("open");
        let adopted = second.find(&id, ME).expect("taken over");
        assert_eq!(adopted.public(), session.public());
        assert!(adopted.is_at("x") && !adopted.is_pipe());
        assert_eq!(adopted.client.as_deref(), Some("a client"));
        assert!(Arc::ptr_eq(&adopted, &second.find(&id, ME).expect("open")));
        assert!(second.end(&id, ME) && second.find(&id, ME).is_none() && !second.end(&id, ME));
        // One that never came here can be ended as well, and is not taken over after that.
        let third = sessions();
        assert!(third.end(&id, ME) && third.find(&id, ME).is_none());
        let stranger = Sessions::new(SessionKey::new("another key").expect("a key"));
        assert!(stranger.find(&id, ME).is_none() && !stranger.end(&id, ME));
    }

    #[test]
    fn a_session_of_another_caller_is_unknown() {
        let (first, second) = (sessions(), sessions());
        let id = first.open(new_session(), DAY).expect("randomness");
        for gateway in [&first, &second] {
            assert!(gateway.find(&id, "key:other").is_none() && !gateway.end(&id, "key:other"));
            assert!(gateway.find(&id, ME).is_some());
            assert!(gateway.find(&id, "key:other").is_none() && !gateway.end(&id, "key:other"));
        }
        // An id of a version without callers belongs to none.
        let mut old = new_session();
        old.caller = "".into();
        let id = first.open(old, DAY).expect("randomness");
        assert!(first.find(&id, ME).is_none() && second.find(&id, ME).is_none());
    }

    #[test]
    fn a_session_that_was_idle_too_long_or_is_too_old_is_not_taken_over() {
        let sessions = sessions();
        let id = sessions.open(new_session(), DAY).expect("randomness");
        sessions.end_idle(Duration::ZERO);
        assert!(sessions.find(&id, ME).is_none());
        let old = sessions
            .open(new_session(), Duration::ZERO)
            .expect("randomness");
        assert!(sessions.find(&old, ME).is_some(), "still open here");
        assert!(self::sessions().find(&old, ME).is_none());
    }

    #[tokio::test]
    async fn a_request_can_be_cancelled_and_ids_do_not_collide() {
        let sessions = sessions();
        let token = sessions.open(new_session(), DAY).expect("randomness");
        let session = sessions.find(&token, ME).expect("open");
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
        let token = sessions.open(new_session(), DAY).expect("randomness");
        let session = sessions.find(&token, ME).expect("open");
        let first = session.listen();
        let second = session.listen();
        assert!(first.await.is_err());
        sessions.end(&token, ME);
        assert!(second.await.is_err());
        session.set_level(Level::SILENT);
        assert_eq!(session.level(), Level::SILENT);
    }

    #[tokio::test]
    async fn the_end_of_a_session_cancels_what_is_under_way() {
        let sessions = sessions();
        let token = sessions.open(new_session(), DAY).expect("randomness");
        let session = sessions.find(&token, ME).expect("open");
        let (keep, gone) = oneshot::channel();
        let active = session.begin(Bytes::from_static(b"1"), keep);
        assert!(sessions.end(&token, ME) && !sessions.end(&token, ME));
        assert!(gone.await.is_err());
        // Its client did not say that it waits for no answer.
        assert!(!active.expect("the only one").cancelled().is_set());
        assert!(sessions.find(&token, ME).is_none());
    }

    #[test]
    fn sessions_are_bounded() {
        let sessions = sessions();
        let first = sessions.open(new_session(), DAY).expect("randomness");
        for _ in 0..MOST {
            sessions.open(new_session(), DAY).expect("randomness");
        }
        assert_eq!(lock(&sessions.open).len(), MOST);
        assert!(sessions.find(&first, ME).is_none());
    }

    #[tokio::test]
    async fn the_caller_with_the_most_sessions_gives_one_up_first() {
        let sessions = sessions();
        let open = |caller: &str| {
            let caller = caller.into();
            let new = NewSession {
                caller,
                ..new_session()
            };
            sessions.open(new, DAY).expect("a session")
        };
        let quiet = open("key:quiet");
        let busy = open("key:greedy");
        let idle = open("key:greedy");
        let (keep, _gone) = oneshot::channel();
        let session = sessions.find(&busy, "key:greedy").expect("open");
        let _under_way = session.begin(Bytes::from_static(b"1"), keep);
        let chosen = || {
            let open = lock(&sessions.open);
            idlest(&open, |_| true, |session| !session.is_busy())
        };
        // The session of the other caller is older.
        assert_eq!(chosen().as_ref(), Some(&idle));
        assert!(sessions.end(&idle, "key:greedy"));
        assert_eq!(chosen().as_ref(), Some(&quiet), "what is under way goes on");
        let open = lock(&sessions.open);
        assert_eq!(open.len(), 2);
        assert_eq!(idlest(&open, |_| false, |_| true), None);
    }
}
