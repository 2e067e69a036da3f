//! The sessions of the web console. A browser holds a random id; everything else is here, so that a session can be ended.
//! There are so many at most, each for so long at most, and none outlives the key or the token that opened it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_dial::lock;
use countersign_login::{Secret, secret_digest};
use subtle::ConstantTimeEq as _;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use crate::random::token;

/// Sessions at once. The oldest makes room.
const MAX_SESSIONS: usize = 1000;
/// How long a session lasts.
pub(crate) const SESSION_LIFETIME: Duration = Duration::from_hours(8);
/// Random bytes of an id.
const ID_BYTES: usize = 32;

/// A digest of an id or of a key: how long a search takes may tell of digests, never of what they are made from.
type Sha = [u8; 32];

/// Keys that are checked at the same time, those whose refusal waits among them.
const MAX_KEY_CHECKS: usize = 16;
/// How long the refusal of a key waits. So all clients together try no more than 32 keys in a second.
pub(crate) const WRONG_KEY_DELAY: Duration = Duration::from_millis(500);

/// The sessions, by the digest of their id.
#[derive(Debug)]
pub(crate) struct ConsoleSessions {
    sessions: Mutex<HashMap<Sha, Arc<ConsoleSession>>>,
    key_checks: Semaphore,
}

impl Default for ConsoleSessions {
    fn default() -> Self {
        Self {
            sessions: Mutex::default(),
            key_checks: Semaphore::new(MAX_KEY_CHECKS),
        }
    }
}

/// What opened a session. The session lasts no longer than it is valid.
#[derive(Debug)]
pub(crate) enum SessionCredential {
    /// The digest of a key.
    Key(Sha),
    /// A token of an issuer, for the gateway's own `/mcp`.
    Token {
        /// The name of the caller who has signed in.
        caller: Arc<str>,
        token: Secret,
    },
}

/// One signed-in browser.
pub(crate) struct ConsoleSession {
    pub(crate) credential: SessionCredential,
    /// What every form sends back, so that no other site can send one.
    pub(crate) csrf: String,
    began: Instant,
    /// What the last change came to, for the next page.
    told: Mutex<Option<(bool, String)>>,
    /// The patch that undoes the last change, and what it changed.
    undo: Mutex<Option<(String, String)>>,
}

impl std::fmt::Debug for ConsoleSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsoleSession").finish_non_exhaustive()
    }
}

impl ConsoleSession {
    /// Whether a form was sent by a page of this session.
    pub(crate) fn has_token(&self, given: &str) -> bool {
        self.csrf.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// Keeps what a change came to for the next page.
    pub(crate) fn tell(&self, is_bad: bool, text: String) {
        *lock(&self.told) = Some((is_bad, text));
    }

    /// What the last change came to, once.
    pub(crate) fn take_told(&self) -> Option<(bool, String)> {
        lock(&self.told).take()
    }

    /// Keeps the patch that undoes a change.
    pub(crate) fn set_undo(&self, undo: Option<(String, String)>) {
        *lock(&self.undo) = undo;
    }

    /// The patch that undoes the last change, and what that changed.
    pub(crate) fn undo(&self) -> Option<(String, String)> {
        lock(&self.undo).clone()
    }
}

impl ConsoleSessions {
    /// Leave to check a key; nothing while too many are being checked. The caller holds it until it answers.
    pub(crate) fn key_check(&self) -> Option<SemaphorePermit<'_>> {
        self.key_checks.try_acquire().ok()
    }

    /// Opens a session and gives its id; nothing if the system has no randomness.
    pub(crate) fn open(&self, credential: SessionCredential) -> Option<String> {
        let (id, csrf) = (token(ID_BYTES)?, token(ID_BYTES)?);
        let session = ConsoleSession {
            credential,
            csrf,
            began: Instant::now(),
            told: Mutex::default(),
            undo: Mutex::default(),
        };
        let mut sessions = lock(&self.sessions);
        sessions.retain(|_, session| session.began.elapsed() < SESSION_LIFETIME);
        if sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.began);
            let oldest = oldest.map(|(id, _)| *id);
            oldest.and_then(|oldest| sessions.remove(&oldest));
        }
        sessions.insert(secret_digest(id.as_bytes()), Arc::new(session));
        Some(id)
    }

    /// The session with this id, if it has not ended.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<ConsoleSession>> {
        let sessions = lock(&self.sessions);
        let found = sessions.get(&secret_digest(id.as_bytes())).map(Arc::clone);
        found.filter(|session| session.began.elapsed() < SESSION_LIFETIME)
    }

    /// Ends a session.
    pub(crate) fn end(&self, id: &str) {
        lock(&self.sessions).remove(&secret_digest(id.as_bytes()));
    }

    /// Ends the sessions of users who signed in at an issuer and are not known any more. A session that a key opened looks
    /// for its key at each request.
    pub(crate) fn end_revoked(&self, is_known: impl Fn(&str) -> bool) {
        let goes_on = |session: &ConsoleSession| match &session.credential {
            SessionCredential::Key(_) => true,
            SessionCredential::Token { caller, .. } => is_known(caller),
        };
        lock(&self.sessions).retain(|_, session| goes_on(session));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SessionCredential {
        SessionCredential::Key([1; 32])
    }

    #[test]
    fn sessions_of_users_of_a_removed_issuer_end() {
        let sessions = ConsoleSessions::default();
        let of = |caller: &str| SessionCredential::Token {
            caller: caller.into(),
            token: Secret::new("token"),
        };
        let ids = [key(), of("corp:ada"), of("partner:bob")].map(|it| sessions.open(it));
        let ids = ids.map(|id| id.expect("an id"));
        sessions.end_revoked(|caller| caller.starts_with("corp:"));
        let found = ids.map(|id| sessions.find(&id).is_some());
        assert_eq!(found, [true, true, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_after_its_time_or_when_it_is_told_to() {
        let sessions = ConsoleSessions::default();
        let id = sessions.open(key()).expect("an id");
        let other = sessions.open(key()).expect("an id");
        assert_ne!(id, other);
        assert!(sessions.find("").is_none());
        sessions.end(&id);
        assert!(sessions.find(&id).is_none() && sessions.find(&other).is_some());
        tokio::time::advance(SESSION_LIFETIME).await;
        assert!(sessions.find(&other).is_none());
        assert!(sessions.open(key()).is_some());
        let left = lock(&sessions.sessions).len();
        assert_eq!(left, 1, "those that ended are forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_session_makes_room() {
        let sessions = ConsoleSessions::default();
        let first = sessions.open(key()).expect("an id");
        for _ in 0..MAX_SESSIONS {
            tokio::time::advance(Duration::from_millis(1)).await;
            assert!(sessions.open(key()).is_some());
        }
        assert_eq!(lock(&sessions.sessions).len(), MAX_SESSIONS);
        assert!(sessions.find(&first).is_none());
    }

    #[test]
    fn only_so_many_keys_are_checked_at_once() {
        let sessions = ConsoleSessions::default();
        let checks: Vec<_> = (0..MAX_KEY_CHECKS).map(|_| sessions.key_check()).collect();
        assert!(checks.iter().all(Option::is_some));
        assert!(sessions.key_check().is_none());
        drop(checks);
        assert!(sessions.key_check().is_some());
    }

    #[test]
    fn a_token_is_the_one_of_its_session() {
        let sessions = ConsoleSessions::default();
        let ids = [sessions.open(key()), sessions.open(key())];
        let [one, other] = ids.map(|id| sessions.find(&id.expect("an id")).expect("a session"));
        assert!(one.has_token(&one.csrf) && !one.has_token(&other.csrf) && !one.has_token(""));
    }
}
