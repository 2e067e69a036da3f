//! A login of a user: the gateway begins it, a browser goes to the authorization server and comes back, and the gateway
//! completes it. Verifier and tokens never leave the gateway.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_client::NoAuthorization;
use countersign_dial::lock;
use countersign_oauth::{
    AuthorizationRequest, Client, ClientMetadata, Grant, OAuthError, PendingAuthorization,
    ServerMetadata,
};
use thiserror::Error;

use super::configured_client::configured_client;
use super::discovery::Discovery;
use super::server_grant::ServerGrant;
use super::tokens::Tokens;

/// How long a login may take.
const MAX_AGE: Duration = Duration::from_mins(10);
/// How many logins may be under way.
const MAX_LOGINS: usize = 64;
/// The path of redirect addresses.
const CALLBACK: &str = "/callback";
/// The name that users are shown.
pub(super) const CLIENT_NAME: &str = "Countersign";

/// What a login begins with.
#[derive(Debug)]
pub struct LoginRequest {
    /// Where the browser comes back to.
    pub redirect: Redirect,
    /// The scopes to ask for, in place of those of the configuration.
    pub scopes: Vec<String>,
    /// The address of the gateway's own document about itself as a client, if there is one.
    pub client_document: Option<String>,
}

/// Where the browser comes back to after a login.
#[derive(Debug)]
pub enum Redirect {
    /// To a command, which gave this address; it has to be one of its machine.
    Command(String),
    /// To a page of the gateway, at this address.
    Page(String),
}

impl Redirect {
    fn checked_uri(&self) -> Result<&String, LoginError> {
        match self {
            Self::Command(uri) if !is_own_redirect(uri) => Err(LoginError::RedirectUri),
            Self::Command(uri) | Self::Page(uri) => Ok(uri),
        }
    }
}

/// What a login would ask for.
#[derive(Debug)]
pub struct LoginPreview {
    /// The authorization server.
    pub issuer: String,
    /// The scopes, separated by spaces.
    pub scope: Option<String>,
}

impl LoginPreview {
    pub(super) async fn find(grant: &ServerGrant) -> Result<Self, LoginError> {
        let found = Discovery::run(grant).await?;
        grant.read_wanted_scopes().await?;
        let scope = found.scope(grant, &[]);
        Ok(Self {
            issuer: found.metadata.issuer,
            scope,
        })
    }
}

/// Why there is no login.
#[derive(Debug, Error)]
pub enum LoginError {
    /// The redirect address is not one of this machine.
    #[error("redirect_uri is not http://127.0.0.1:PORT/callback")]
    RedirectUri,
    /// A client of this server has to be set up by an operator.
    #[error(
        "the authorization server does not let clients register themselves; set oauth.client_id (and oauth.client_secret) of the server"
    )]
    NoClient,
    /// No login with this state is under way for the server.
    #[error("the response does not belong to a login that is under way")]
    UnknownState,
    /// The exchange with the server or its authorization server failed.
    #[error(transparent)]
    OAuth(#[from] OAuthError),
    /// The tokens cannot be stored, or not be used.
    #[error(transparent)]
    Store(#[from] NoAuthorization),
}

/// The logins under way.
#[derive(Debug, Default)]
pub(super) struct Logins {
    pending: Mutex<Vec<PendingLogin>>,
    /// The clients that were registered for the pages of the gateway, by authorization server and redirect address: the logins
    /// of all callers use the same one.
    registered: Mutex<HashMap<(String, String), Client>>,
}

/// A login that waits for the browser.
#[derive(Debug)]
struct PendingLogin {
    grant: Arc<ServerGrant>,
    pending: PendingAuthorization,
    metadata: ServerMetadata,
    client: Client,
    redirect_uri: String,
    resource: Option<String>,
    scope: Option<String>,
    started: Instant,
}

impl Logins {
    /// Begins a login, and gives the address for the browser.
    pub(super) async fn begin(
        &self,
        grant: &Arc<ServerGrant>,
        request: &LoginRequest,
    ) -> Result<String, LoginError> {
        let redirect_uri = request.redirect.checked_uri()?;
        let found = Discovery::run(grant).await?;
        // Before a client is registered that could not be used.
        found.metadata.login_endpoint()?;
        let resource = found.resource(grant);
        grant.read_wanted_scopes().await?;
        let scope = found.scope(grant, &request.scopes);
        let client = self.client(grant, &found, request, scope.as_deref());
        let client = client.await?;
        let asked = AuthorizationRequest {
            client_id: &client.id,
            redirect_uri,
            resource: resource.as_deref(),
            scope: scope.as_deref(),
        };
        let started = Instant::now();
        let (url, pending) = asked.start(&found.metadata, started)?;
        self.keep(PendingLogin {
            grant: Arc::clone(grant),
            pending,
            metadata: found.metadata,
            client,
            redirect_uri: redirect_uri.clone(),
            resource,
            scope,
            started,
        });
        Ok(url)
    }

    fn keep(&self, login: PendingLogin) {
        let mut logins = lock(&self.pending);
        logins.retain(|login| login.started.elapsed() < MAX_AGE);
        if logins.len() >= MAX_LOGINS {
            logins.remove(0);
        }
        logins.push(login);
    }

    /// Completes a login with the query that the browser came back with. The login is used up, whatever comes of it.
    pub(super) async fn complete(
        &self,
        grant: &Arc<ServerGrant>,
        query: &str,
    ) -> Result<(), LoginError> {
        let login = self.take(grant, query).ok_or(LoginError::UnknownState)?;
        let code = login.pending.complete(query, Instant::now())?;
        let granted = Grant::AuthorizationCode(&code)
            .request(
                grant.http,
                &login.metadata,
                &login.client,
                login.resource.as_deref(),
                None,
            )
            .await?;
        let tokens = Tokens {
            redirect_uri: Some(login.redirect_uri),
            ..Tokens::granted(granted, login.client, login.resource, login.scope)
        };
        grant.accept(&login.metadata.issuer, tokens).await?;
        Ok(())
    }

    /// Takes the login that a response belongs to by its state, if it is one of this server.
    fn take(&self, grant: &Arc<ServerGrant>, query: &str) -> Option<PendingLogin> {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let (_, state) = pairs.find(|(name, _)| name == "state")?;
        let mut logins = lock(&self.pending);
        let index = logins.iter().position(|login| {
            Arc::ptr_eq(&login.grant, grant) && login.pending.matches_state(&state)
        })?;
        Some(logins.remove(index))
    }
}

impl ServerGrant {
    /// Stores the tokens of a login and uses them from now on.
    async fn accept(&self, issuer: &str, tokens: Tokens) -> Result<(), NoAuthorization> {
        let (sealed, issuer) = (self.sealed(issuer, &tokens)?, issuer.to_owned());
        let _one_at_a_time = self.renewing.lock().await;
        let generation = self
            .store(move |reader, owner| reader.put_grant(owner, &issuer, &sealed))
            .await?;
        self.hold(generation, tokens)?;
        self.forget_wanted_scopes();
        self.announce_change();
        Ok(())
    }
}

impl Logins {
    /// Which client the gateway is at this authorization server: the configured one; the one that a document describes; the
    /// one of an earlier login there; or a newly registered one.
    async fn client(
        &self,
        grant: &ServerGrant,
        found: &Discovery,
        request: &LoginRequest,
        scope: Option<&str>,
    ) -> Result<Client, LoginError> {
        if let Some(client) = configured_client(&grant.oauth, &found.metadata).await? {
            return Ok(client);
        }
        let document = grant.oauth.client_metadata_url.as_ref();
        let document = document.or(request.client_document.as_ref());
        if let Some(url) = document
            && found.metadata.client_id_metadata_document_supported
        {
            return Ok(Client::public(url));
        }
        let redirect_uri = request.redirect.checked_uri()?;
        if let Some(known) = known_client(grant, found, redirect_uri).await? {
            return Ok(known);
        }
        if found.metadata.registration_endpoint.is_none() {
            return Err(LoginError::NoClient);
        }
        let place = (found.metadata.issuer.clone(), redirect_uri.clone());
        let is_page = matches!(request.redirect, Redirect::Page(_));
        let registered = lock(&self.registered).get(&place).cloned();
        if let Some(client) = registered.filter(|_| is_page) {
            return Ok(client);
        }
        let redirect_uris = [redirect_uri.clone()];
        let client = ClientMetadata::new(CLIENT_NAME, &redirect_uris, scope);
        let client = client.register(grant.http, &found.metadata).await?;
        if is_page {
            let mut registered = lock(&self.registered);
            if registered.len() >= MAX_LOGINS {
                registered.clear();
            }
            registered.insert(place, client.clone());
        }
        Ok(client)
    }
}

/// The client of an earlier login at the same authorization server, if the browser comes back to the same address.
async fn known_client(
    grant: &ServerGrant,
    found: &Discovery,
    redirect_uri: &String,
) -> Result<Option<Client>, LoginError> {
    let Some(loaded) = grant.load().await? else {
        return Ok(None);
    };
    let is_same_issuer = loaded.issuer == found.metadata.issuer;
    let same_address = |tokens: &Tokens| {
        tokens.redirect_uri.as_ref() == Some(redirect_uri)
            && !tokens.client.id.starts_with("https://")
    };
    let tokens = loaded
        .tokens
        .filter(|tokens| is_same_issuer && same_address(tokens));
    Ok(tokens.map(|tokens| tokens.client))
}

/// Whether an address is that of a command on this machine.
fn is_own_redirect(uri: &str) -> bool {
    let rest = uri.strip_prefix("http://");
    let rest = rest.and_then(|rest| {
        let hosts = ["127.0.0.1:", "localhost:", "[::1]:"];
        hosts.iter().find_map(|host| rest.strip_prefix(host))
    });
    let port = rest.and_then(|rest| rest.strip_suffix(CALLBACK));
    port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

#[cfg(test)]
mod tests {
    use super::is_own_redirect;

    #[test]
    fn a_browser_comes_back_to_this_machine() {
        assert!(is_own_redirect("http://127.0.0.1:8123/callback"));
        assert!(is_own_redirect("http://localhost:1/callback"));
        for foreign in [
            "https://evil.example/callback",
            "http://127.0.0.1.evil.example:1/callback",
            "http://127.0.0.1:1@evil.example/callback",
            "http://127.0.0.1:80/other",
            "http://127.0.0.1:0/callback",
            "javascript:alert(1)//callback",
        ] {
            assert!(!is_own_redirect(foreign), "{foreign}");
        }
    }
}
