//! Tokens for the servers that need one: logins, and what they gave. Tokens are kept in the store, sealed, and given to the
//! requests of their server only.

mod authorizer;
mod client_document;
mod configured_client;
mod discovery;
mod login;
mod renewal;
mod seal;
mod server_grant;
mod status;
mod tokens;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use countersign_audit::{GrantOwner, Reader, StoreError};
use countersign_client::{Authorizer, NoAuthorization};
use countersign_config::{OAuth, OAuthCredentials, OAuthGrant, Server, Transport};
use countersign_dial::lock;
use serde_json::Value;

use authorizer::GrantAuthorizer;
pub use client_document::{
    CLIENT_DOCUMENT, client_document, client_document_url, connect_callback, server_document,
    server_document_name, server_document_url,
};
use login::Logins;
pub use login::{LoginError, LoginPreview, LoginRequest, Redirect};
pub use seal::SealKey;
use server_grant::{HeldToken, OWN, ServerGrant};
use status::status;

/// So many grants of callers are kept in memory; the store has them all.
const MAX_CALLER_GRANTS: usize = 4096;

/// The grants of callers, by server and caller.
type CallerGrants = HashMap<(Arc<str>, Arc<str>), Arc<ServerGrant>>;

/// The tokens of all servers.
#[derive(Debug)]
pub struct Grants {
    reader: Reader,
    seal: OnceLock<Arc<SealKey>>,
    /// The grants in use. A server that is configured anew has another one.
    known: Mutex<Vec<Weak<ServerGrant>>>,
    /// The grants of callers, for servers with `credentials: caller`.
    of_callers: Mutex<CallerGrants>,
    logins: Logins,
}

impl Grants {
    /// No grants yet. Those that the store has are read when they are needed.
    pub fn new(reader: Reader) -> Self {
        Self {
            reader,
            seal: OnceLock::new(),
            known: Mutex::default(),
            of_callers: Mutex::default(),
            logins: Logins::default(),
        }
    }

    /// Sets the key, once: it is needed as soon as a server has `oauth`.
    pub fn unlock<E>(&self, key: impl FnOnce() -> Result<SealKey, E>) -> Result<(), E> {
        if self.seal.get().is_none() {
            let key = key()?;
            self.seal.get_or_init(|| Arc::new(key));
        }
        Ok(())
    }

    /// The gateway's own grant of a server, if its configuration asks for one.
    fn of(&self, server: &Server) -> Option<Arc<ServerGrant>> {
        let (oauth, url) = oauth_and_url(server)?;
        let seal = self.seal.get()?;
        let mut known = lock(&self.known);
        known.retain(|grant| grant.strong_count() > 0);
        let mut live = known.iter().filter_map(Weak::upgrade);
        if let Some(grant) = live.find(|grant| grant.is_for(&server.name, url, oauth)) {
            return Some(grant);
        }
        let (owner, reader) = (
            (server.name.as_str().into(), OWN.into()),
            self.reader.clone(),
        );
        let grant = ServerGrant::new(owner, url, oauth, reader, Arc::clone(seal));
        let grant = Arc::new(grant);
        known.push(Arc::downgrade(&grant));
        Some(grant)
    }

    /// The grant of a caller, if each caller has one of its own for the server.
    fn of_caller(&self, server: &Server, caller: &str) -> Option<Arc<ServerGrant>> {
        let (oauth, url) = oauth_and_url(server)?;
        if oauth.credentials != OAuthCredentials::Caller || caller == OWN {
            return None;
        }
        let seal = self.seal.get()?;
        let owner: (Arc<str>, Arc<str>) = (server.name.as_str().into(), caller.into());
        let mut all = lock(&self.of_callers);
        let known = all.get(&owner);
        if let Some(grant) = known.filter(|grant| grant.is_for(&server.name, url, oauth)) {
            return Some(Arc::clone(grant));
        }
        if all.len() >= MAX_CALLER_GRANTS {
            // Those in use go on; one more than there should be does no harm.
            all.retain(|_, grant| Arc::strong_count(grant) > 1);
        }
        let reader = self.reader.clone();
        let grant = ServerGrant::new(owner.clone(), url, oauth, reader, Arc::clone(seal));
        let grant = Arc::new(grant);
        all.insert(owner, Arc::clone(&grant));
        Some(grant)
    }

    /// The gateway's own grant, or that of the caller with this name.
    fn find(&self, server: &Server, caller: Option<&str>) -> Option<Arc<ServerGrant>> {
        match caller {
            Some(caller) => self.of_caller(server, caller),
            None => self.of(server),
        }
    }

    /// Where the calls of a caller get their token from, if each caller has one of its own for the server.
    pub fn caller_grant(&self, server: &Server, caller: &str) -> Option<CallerGrant> {
        let grant = self.of_caller(server, caller)?;
        Some(CallerGrant(Arc::new(GrantAuthorizer(grant))))
    }

    /// A code for links to connect a server: it tells for which caller a link was made. Nothing before there is a key.
    pub fn connect_link(&self, server: &str, caller: &str) -> Option<String> {
        Some(self.seal.get()?.link(server, caller))
    }

    /// Where the requests of a server get their token from, if they need one.
    pub fn authorizer(&self, server: &Server) -> Option<Arc<dyn Authorizer>> {
        Some(Arc::new(GrantAuthorizer(self.of(server)?)))
    }

    /// Begins a login to a server, for the gateway or for a caller, and gives the address for the browser; nothing if a login
    /// is not how this server gets its token.
    pub async fn begin_login(
        &self,
        server: &Server,
        caller: Option<&str>,
        request: &LoginRequest,
    ) -> Option<Result<String, LoginError>> {
        let grant = self.find(server, caller).filter(is_by_login)?;
        Some(self.logins.begin(&grant, request).await)
    }

    /// What a login of a caller would ask for; nothing if callers do not log in to this server.
    pub async fn preview_login(
        &self,
        server: &Server,
        caller: &str,
    ) -> Option<Result<LoginPreview, LoginError>> {
        let grant = self.of_caller(server, caller).filter(is_by_login)?;
        Some(LoginPreview::find(&grant).await)
    }

    /// Completes a login with the query that the browser came back with.
    pub async fn complete_login(
        &self,
        server: &Server,
        caller: Option<&str>,
        query: &str,
    ) -> Option<Result<(), LoginError>> {
        let grant = self.find(server, caller).filter(is_by_login)?;
        Some(self.logins.complete(&grant, query).await)
    }

    /// Removes the token of a server; whether there was one.
    pub async fn log_out(
        &self,
        server: &Server,
        caller: Option<&str>,
    ) -> Option<Result<bool, NoAuthorization>> {
        let grant = self.find(server, caller)?;
        let removed = grant.store(Reader::remove_grant).await;
        if removed.is_ok() {
            grant.let_go();
        }
        Some(removed)
    }

    /// Lets go of the tokens in memory that another gateway has removed from the store or replaced there. Blocks.
    pub fn follow_store(&self) -> Result<(), StoreError> {
        let held = self.stored_and_held();
        let owners: Vec<GrantOwner<'_>> = held.iter().map(|(grant, _)| grant.owner()).collect();
        let stored = self.reader.grant_generations(&owners)?;
        for ((grant, held), stored) in held.iter().zip(stored) {
            grant.compare_with_store(held, stored);
        }
        Ok(())
    }

    /// The grants with a token in memory that the store has too.
    fn stored_and_held(&self) -> Vec<(Arc<ServerGrant>, Arc<HeldToken>)> {
        let own: Vec<_> = lock(&self.known).iter().filter_map(Weak::upgrade).collect();
        let of_callers: Vec<_> = lock(&self.of_callers).values().cloned().collect();
        let all = own.into_iter().chain(of_callers).filter(is_by_login);
        all.filter_map(|grant| grant.held().map(|held| (grant, held)))
            .collect()
    }

    /// What an operator is told about the token of a server. The token itself is not part of it.
    pub async fn status(
        &self,
        server: &Server,
        caller: Option<&str>,
    ) -> Option<Result<Value, NoAuthorization>> {
        let grant = self.find(server, caller)?;
        Some(status(&grant).await)
    }
}

/// What gives the calls of one caller their token.
#[derive(Clone, Debug)]
pub struct CallerGrant(Arc<GrantAuthorizer>);

impl CallerGrant {
    /// Waits for a token; the error says why there is none.
    pub async fn ready(&self) -> Result<(), NoAuthorization> {
        self.0.authorize().await.map(drop)
    }

    /// Where the requests of the caller get their token from.
    pub fn authorizer(&self) -> Arc<dyn Authorizer> {
        Arc::<GrantAuthorizer>::clone(&self.0)
    }
}

fn oauth_and_url(server: &Server) -> Option<(&OAuth, &str)> {
    match (&server.oauth, &server.transport) {
        (Some(oauth), Transport::Http { url, .. }) => Some((oauth, url)),
        _ => None,
    }
}

fn is_by_login(grant: &Arc<ServerGrant>) -> bool {
    grant.oauth.grant == OAuthGrant::AuthorizationCode
}
