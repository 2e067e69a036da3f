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
        let open = lock(&self.open);
        open.values()
            .any(|session| session.watched_as(server, uri).is_some())
    }

    /// The session of this id, if it is still open or can be taken over.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let known = lock(&self.open).get(id).cloned();
        let session = known.or_else(|| self.adopt(id))?;
        session.mark_used();
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use tokio::sync::oneshot;

    use super::super::Level;
    use super::*;
    use crate::state::Endpoint;

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
