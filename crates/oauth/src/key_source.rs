//! The keys of an issuer, fetched and kept current. A token with a made-up signature can make the gateway look for a
//! key, so how often keys are fetched depends on the clock alone.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_dial::lock;
use countersign_token::KeySet;

use crate::error::OAuthError;
use crate::http::HttpClient;
use crate::server_metadata::ServerMetadata;

/// How old keys may be before they are fetched again.
const REFRESH: Duration = Duration::from_mins(10);
/// The shortest time between two attempts of one kind, whatever came of the first.
const ATTEMPT: Duration = Duration::from_secs(30);
/// How long good keys are used if no newer ones can be fetched.
const OUTLIVE: Duration = Duration::from_hours(24);

/// The keys of one issuer. Clones share them.
#[derive(Clone, Debug)]
pub struct KeySource {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    http: HttpClient,
    issuer: String,
    state: Mutex<State>,
    /// Held by the one fetch that is under way.
    flight: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct State {
    current: Option<CurrentKeys>,
    fetched: Option<Instant>,
    attempted: Option<Instant>,
    /// The last attempt for a key that the set lacks. It has a time of its own, so that a key which is new shortly after
    /// the first fetch is found.
    searched: Option<Instant>,
    failures: u64,
    failure: Option<Arc<OAuthError>>,
}

/// Why keys are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// They are missing or old.
    Age,
    /// A token named a key that they lack.
    UnknownId,
}

/// How the fetching of keys goes.
#[derive(Clone, Debug)]
pub struct KeyStatus {
    /// How many usable keys there are.
    pub keys: usize,
    /// When they were fetched.
    pub fetched: Option<Instant>,
    /// How many attempts have failed.
    pub failures: u64,
    /// Why the last attempt failed; nothing if it did not.
    pub failure: Option<Arc<OAuthError>>,
}

/// Keys, and a number that grows when they change.
#[derive(Clone, Debug)]
pub struct CurrentKeys {
    /// The keys.
    pub keys: Arc<KeySet>,
    /// Grows with every change of the keys.
    pub revision: u64,
}

/// There are no keys, or none that are recent enough: tokens can be neither accepted nor refused.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("the keys of the issuer cannot be fetched")]
pub struct NoKeys;

impl KeySource {
    /// Keys of an issuer, of which none is fetched yet.
    pub fn new(http: HttpClient, issuer: &str) -> Self {
        let inner = Inner {
            http,
            issuer: issuer.to_owned(),
            state: Mutex::default(),
            flight: Arc::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The keys, fetched if they are missing or older than ten minutes. Where there are keys, a fetch does not keep the
    /// caller waiting.
    pub async fn keys(&self, now: Instant) -> Result<CurrentKeys, NoKeys> {
        let is_old = self.inner.is_older_than(REFRESH, now);
        if let Ok(current) = self.inner.usable(now) {
            if is_old {
                drop(self.start_fetch(Reason::Age, now));
            }
            return Ok(current);
        }
        self.fetch(Reason::Age, now).await
    }

    /// The keys after a token named a key that they lack: fetched again, unless that was tried in the last 30 seconds.
    pub async fn keys_for_unknown_id(&self, now: Instant) -> Result<CurrentKeys, NoKeys> {
        self.fetch(Reason::UnknownId, now).await
    }

    /// The number of the keys that are held, which grows when they change; 0 before the first ones.
    pub fn revision(&self) -> u64 {
        let state = lock(&self.inner.state);
        state.current.as_ref().map_or(0, |current| current.revision)
    }

    /// How the fetching goes.
    pub fn status(&self) -> KeyStatus {
        let state = lock(&self.inner.state);
        KeyStatus {
            keys: state
                .current
                .as_ref()
                .map_or(0, |current| current.keys.len()),
            fetched: state.fetched,
            failures: state.failures,
            failure: state.failure.clone(),
        }
    }

    async fn fetch(&self, reason: Reason, now: Instant) -> Result<CurrentKeys, NoKeys> {
        match self.start_fetch(reason, now) {
            // A fetch that panicked left the old keys in place.
            Some(task) => drop(task.await),
            // Another caller's fetch may be under way.
            None => drop(self.inner.flight.lock().await),
        }
        self.inner.usable(now)
    }

    /// Starts a fetch, if the last attempt is long enough ago. It runs in a task of its own, so that a caller which goes
    /// away does not waste the attempt.
    fn start_fetch(&self, reason: Reason, now: Instant) -> Option<tokio::task::JoinHandle<()>> {
        let flight = Arc::clone(&self.inner.flight).try_lock_owned().ok()?;
        if !self.inner.begin_attempt(reason, now) {
            return None;
        }
        let inner = Arc::clone(&self.inner);
        Some(tokio::spawn(async move {
            match inner.download().await {
                Ok(keys) => inner.replace(keys, now),
                Err(error) => inner.note_failure(error),
            }
            drop(flight);
        }))
    }
}

impl Inner {
    fn is_older_than(&self, age: Duration, now: Instant) -> bool {
        let fetched = lock(&self.state).fetched;
        fetched.is_none_or(|fetched| now.saturating_duration_since(fetched) >= age)
    }

    fn usable(&self, now: Instant) -> Result<CurrentKeys, NoKeys> {
        if self.is_older_than(OUTLIVE, now) {
            return Err(NoKeys);
        }
        lock(&self.state).current.clone().ok_or(NoKeys)
    }

    /// Notes an attempt; false if there was one for this reason in the last 30 seconds.
    fn begin_attempt(&self, reason: Reason, now: Instant) -> bool {
        let mut state = lock(&self.state);
        let last = match reason {
            Reason::Age => state.attempted,
            Reason::UnknownId => state.searched,
        };
        let is_due = last.is_none_or(|at| now.saturating_duration_since(at) >= ATTEMPT);
        if is_due {
            state.attempted = Some(now);
            if reason == Reason::UnknownId {
                state.searched = Some(now);
            }
        }
        is_due
    }

    fn note_failure(&self, error: OAuthError) {
        let mut state = lock(&self.state);
        state.failures += 1;
        state.failure = Some(Arc::new(error));
    }

    async fn download(&self) -> Result<KeySet, OAuthError> {
        let what = "jwks_uri";
        let server = ServerMetadata::discover(self.http, &self.issuer).await?;
        let url = server.jwks_uri.ok_or(OAuthError::NoEndpoint { what })?;
        let response = self.http.get_limited(&url, KeySet::MAX_BYTES).await?;
        if !response.status.is_success() {
            return Err(OAuthError::Status(response.status.as_u16()));
        }
        let what = "key set";
        KeySet::parse(&response.body).map_err(|_| OAuthError::Malformed { what })
    }

    fn replace(&self, keys: KeySet, now: Instant) {
        let mut state = lock(&self.state);
        state.fetched = Some(now);
        state.failure = None;
        let revision = match &state.current {
            Some(current) if *current.keys == keys => return,
            Some(current) => current.revision + 1,
            None => 1,
        };
        let keys = Arc::new(keys);
        state.current = Some(CurrentKeys { keys, revision });
    }
}
