//! The token of one server, for the gateway or for one caller: held in memory, kept in the store, and given to the requests that need it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwapOption;
use countersign_audit::{GrantOwner, Reader, StoreError};
use countersign_client::NoAuthorization;
use countersign_config::{OAuth, OAuthGrant};
use countersign_dial::lock;
use countersign_oauth::{Challenge, HttpClient, Reach};
use hyper::header::HeaderValue;
use tokio::sync::watch;
use tokio::time::Instant;

use super::seal::{SealKey, SealedFor};
use super::tokens::Tokens;

/// The name of the gateway's own grants in the store.
pub(super) const OWN: &str = "";
/// A server may refuse even a new token; so long no other one is asked for.
const AFTER_REFUSED_RETRY: Duration = Duration::from_secs(10);
/// How many scopes of a server's refusals are remembered, and how long each may be.
const MAX_SCOPES: usize = 64;
const MAX_SCOPE_BYTES: usize = 200;

/// The token of one server.
#[derive(Debug)]
pub(crate) struct ServerGrant {
    pub(super) server: Arc<str>,
    /// Whose it is: the name of a caller, or nothing for the gateway's own.
    pub(super) caller: Arc<str>,
    pub(super) url: String,
    pub(super) oauth: OAuth,
    pub(super) http: HttpClient,
    reader: Reader,
    seal: Arc<SealKey>,
    held: ArcSwapOption<HeldToken>,
    /// Held by the task that gets the next token; the others wait for it.
    pub(super) renewing: tokio::sync::Mutex<()>,
    /// The generation whose refresh token was refused.
    pub(super) dead: AtomicU64,
    /// When the server last refused a token that had been obtained because it refused the one before.
    pub(super) refused_retry: Mutex<Option<Instant>>,
    /// The scopes that the server missed, for the next login.
    wanted_scopes: Mutex<BTreeSet<String>>,
    pub(super) changes: watch::Sender<u64>,
}

/// A token that requests are made with.
#[derive(Debug)]
pub(super) struct HeldToken {
    pub(super) header: HeaderValue,
    pub(super) generation: u64,
    tokens: HeldTokens,
}

/// Tokens without a way to print them.
struct HeldTokens(Tokens);

impl std::fmt::Debug for HeldTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HeldTokens")
    }
}

impl HeldToken {
    pub(super) fn is_fresh(&self) -> bool {
        self.tokens.0.is_fresh(SystemTime::now())
    }

    /// The scopes that were granted or asked for.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &str> {
        self.tokens.0.scopes()
    }
}

/// What the store has of a token.
pub(super) struct LoadedGrant {
    pub(super) issuer: String,
    pub(super) generation: u64,
    /// Nothing if it was sealed with another key, or for another address.
    pub(super) tokens: Option<Tokens>,
}

impl ServerGrant {
    pub(super) fn new(
        (server, caller): (Arc<str>, Arc<str>),
        url: &str,
        oauth: &OAuth,
        reader: Reader,
        seal: Arc<SealKey>,
    ) -> Self {
        Self {
            server,
            caller,
            url: url.to_owned(),
            oauth: oauth.clone(),
            http: HttpClient::new(Reach::from_url(url, oauth.allow_private)),
            reader,
            seal,
            held: ArcSwapOption::empty(),
            renewing: tokio::sync::Mutex::default(),
            dead: AtomicU64::new(0),
            refused_retry: Mutex::default(),
            wanted_scopes: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }

    /// Whether it is the grant of a server that is configured like this.
    pub(super) fn is_for(&self, server: &str, url: &str, oauth: &OAuth) -> bool {
        *self.server == *server && self.url == url && self.oauth.is_like(oauth)
    }

    /// Whether it belongs to a caller, and not to the gateway.
    pub(super) fn is_of_caller(&self) -> bool {
        *self.caller != *OWN
    }

    pub(super) fn held(&self) -> Option<Arc<HeldToken>> {
        self.held.load_full()
    }

    /// Makes requests with these tokens from now on.
    pub(super) fn hold(
        &self,
        generation: u64,
        tokens: Tokens,
    ) -> Result<Arc<HeldToken>, NoAuthorization> {
        let unusable = || NoAuthorization::Unavailable("it cannot be sent in a header".into());
        let held = Arc::new(HeldToken {
            header: tokens.header().ok_or_else(unusable)?,
            generation,
            tokens: HeldTokens(tokens),
        });
        self.held.store(Some(Arc::clone(&held)));
        Ok(held)
    }

    /// An operator has given a token or taken it away.
    pub(super) fn announce_change(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    pub(super) fn let_go(&self) {
        self.held.store(None);
        self.announce_change();
    }

    /// Whose token it is, for the store.
    pub(super) fn owner(&self) -> GrantOwner<'_> {
        GrantOwner {
            server: &self.server,
            caller: &self.caller,
        }
    }

    /// Lets go of a token that is not the newest one of the store any more; `stored` is the generation there. A logout or
    /// another login is announced. An exchange (the next generation) is not: the next request reads its token. A token whose
    /// generation the store does not have yet stays, because it could not be written.
    pub(super) fn compare_with_store(&self, held: &Arc<HeldToken>, stored: Option<u64>) {
        if stored.is_some_and(|stored| stored <= held.generation) {
            return;
        }
        let ours = Some(Arc::clone(held));
        let before = self.held.compare_and_swap(&ours, None);
        let is_changed = stored != held.generation.checked_add(1);
        if is_changed && before.as_ref().is_some_and(|it| Arc::ptr_eq(it, held)) {
            let server = &*self.server;
            tracing::info!(server, "another gateway has changed the login to a server");
            self.announce_change();
        }
    }

    /// What to do about a missing token.
    pub(super) fn needs_login(&self, why: &str) -> NoAuthorization {
        let server = &self.server;
        let text = match self.oauth.grant {
            OAuthGrant::AuthorizationCode if self.is_of_caller() => {
                let caller = &self.caller;
                format!("{why}; log in with `countersign auth login {server} --caller {caller}`")
            }
            OAuthGrant::AuthorizationCode => {
                format!("{why}; log in with `countersign auth login {server}`")
            }
            OAuthGrant::ClientCredentials => why.to_owned(),
        };
        NoAuthorization::NeedsLogin(text.into())
    }

    /// Asks the store, on a thread that may block.
    pub(super) async fn store<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Reader, GrantOwner<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, NoAuthorization> {
        let (reader, server) = (self.reader.clone(), Arc::clone(&self.server));
        let caller = Arc::clone(&self.caller);
        let asked = tokio::task::spawn_blocking(move || {
            let owner = GrantOwner {
                server: &server,
                caller: &caller,
            };
            question(&reader, owner)
        });
        match asked.await {
            Ok(Ok(answer)) => Ok(answer),
            failed => {
                let why = failed.map(Result::err);
                tracing::error!(?why, "the store of tokens cannot be used");
                Err(NoAuthorization::Unavailable(
                    "the store cannot be used".into(),
                ))
            }
        }
    }

    pub(super) async fn load(&self) -> Result<Option<LoadedGrant>, NoAuthorization> {
        let stored = self.store(Reader::grant).await?;
        Ok(stored.map(|stored| LoadedGrant {
            tokens: self
                .seal
                .open(self.sealed_for(&stored.issuer), &stored.sealed)
                .and_then(|bytes| Tokens::from_bytes(&bytes)),
            generation: stored.generation,
            issuer: stored.issuer,
        }))
    }

    pub(super) fn sealed(&self, issuer: &str, tokens: &Tokens) -> Result<Vec<u8>, NoAuthorization> {
        let sealed = self.seal.seal(self.sealed_for(issuer), &tokens.to_bytes());
        sealed.ok_or_else(|| NoAuthorization::Unavailable("no randomness to be had".into()))
    }

    fn sealed_for<'a>(&'a self, issuer: &'a str) -> SealedFor<'a> {
        SealedFor {
            server: &self.server,
            url: &self.url,
            caller: &self.caller,
            issuer,
        }
    }

    /// The scopes that the server missed so far.
    pub(super) fn wanted_scopes(&self) -> BTreeSet<String> {
        lock(&self.wanted_scopes).clone()
    }

    pub(super) fn forget_wanted_scopes(&self) {
        lock(&self.wanted_scopes).clear();
    }

    /// Whether a caller can be asked to log in again for scopes that the server missed: not for those that were asked for
    /// before, and for no more than so many in all, because a server that always misses some would make its user log in for
    /// ever.
    pub(super) fn can_ask_for_scopes(&self, challenge: Option<&Challenge>) -> bool {
        let is_by_user = self.is_of_caller() && self.oauth.grant == OAuthGrant::AuthorizationCode;
        let Some(held) = self.held().filter(|_| is_by_user) else {
            return false;
        };
        let mut scopes: BTreeSet<&str> = held.scopes().collect();
        let before = scopes.len();
        scopes.extend(missed_scopes(challenge).take(MAX_SCOPES));
        before < scopes.len() && scopes.len() <= MAX_SCOPES
    }

    /// Remembers the scopes that the server missed, for the next login.
    pub(super) fn remember_scopes(&self, challenge: Option<&Challenge>) {
        if missed_scopes(challenge).next().is_none() {
            return;
        }
        let mut wanted = lock(&self.wanted_scopes);
        for scope in missed_scopes(challenge) {
            if wanted.len() < MAX_SCOPES {
                wanted.insert(scope.to_owned());
            }
        }
        let server = &*self.server;
        tracing::warn!(
            server,
            "the server asks for more scopes; log in again with `countersign auth login`"
        );
    }

    /// Takes in the scopes that the server missed at any gateway, and those of the login before, which a login for more must
    /// not take away.
    pub(super) async fn read_wanted_scopes(&self) -> Result<(), NoAuthorization> {
        let tokens = self.load().await?.and_then(|loaded| loaded.tokens);
        let Some(tokens) = tokens else {
            return Ok(());
        };
        let mut wanted = lock(&self.wanted_scopes);
        let stored = tokens.wanted_scope.iter();
        wanted.extend(stored.flat_map(|it| it.split(' ')).map(str::to_owned));
        if !wanted.is_empty() {
            wanted.extend(tokens.scopes().map(str::to_owned));
        }
        Ok(())
    }

    /// Whether a refused token may be exchanged now.
    pub(super) fn may_exchange_refused(&self) -> bool {
        let refused = *lock(&self.refused_retry);
        refused.is_none_or(|last| last.elapsed() > AFTER_REFUSED_RETRY)
    }
}

/// The scopes that a server missed, if that is why it refused a request.
fn missed_scopes(challenge: Option<&Challenge>) -> impl Iterator<Item = &str> {
    let challenge = challenge.filter(|it| it.error.as_deref() == Some("insufficient_scope"));
    let scopes = challenge.and_then(|challenge| challenge.scope.as_deref());
    let scopes = scopes.unwrap_or_default().split(' ');
    scopes.filter(|scope| is_scope(scope))
}

/// Whether a text is a scope (RFC 6749, section 3.3) of a sensible length.
pub(super) fn is_scope(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    !text.is_empty() && text.len() <= MAX_SCOPE_BYTES && text.bytes().all(fits)
}

impl ServerGrant {
    /// Notes that this generation cannot be exchanged any more.
    pub(super) fn give_up(&self, generation: u64) {
        self.dead.store(generation, Ordering::Relaxed);
        self.held.store(None);
    }

    pub(super) fn is_given_up(&self, generation: u64) -> bool {
        self.dead.load(Ordering::Relaxed) == generation
    }
}
