//! Users who sign in with a browser at an issuer whose tokens the gateway accepts: an authorization code with PKCE, and then
//! an access token for the gateway's own `/mcp`. That token is verified like the token of an MCP client, so the user is the
//! same caller by both ways. A session of the console keeps the token for as long as it lasts; otherwise it is forgotten.
//!
//! A login belongs to the browser that began it: the browser holds a random secret in a cookie. It can be completed once,
//! within ten minutes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_dial::lock;
use countersign_oauth::{
    AuthorizationRequest, Client, Grant, HttpClient, OAuthError, PendingAuthorization, Secret,
    ServerMetadata,
};
use subtle::ConstantTimeEq as _;
use thiserror::Error;

use crate::caller::Caller;
use crate::issuers::{Issuers, TokenRefusal};
use crate::secrets::{random_token, secret_digest};
use crate::token_rules::{IssuerRules, TokenRules};

/// Where an issuer sends the browser back to, below `public_url`.
pub const LOGIN_CALLBACK: &str = "/login/callback";
/// How long a login may take.
pub const LOGIN_LIFETIME: Duration = Duration::from_mins(10);
/// How many logins may be under way. The oldest makes room.
const MAX_LOGINS: usize = 1024;
/// How long the metadata of an issuer is used: a flood of logins must not become a flood of requests to the issuer.
const METADATA_AGE: Duration = Duration::from_mins(1);
/// The endpoint that tokens are asked for.
const ENDPOINT: &str = "/mcp";
const SECRET_BYTES: usize = 32;

/// The logins of browsers under way.
#[derive(Debug, Default)]
pub struct BrowserLogins {
    pending: Mutex<Vec<PendingLogin>>,
    metadata: Mutex<HashMap<String, (Instant, ServerMetadata)>>,
}

#[derive(Debug)]
struct PendingLogin {
    issuer: Arc<IssuerRules>,
    authorization: PendingAuthorization,
    metadata: ServerMetadata,
    client: Client,
    resource: Option<String>,
    /// The digest of the secret that the browser holds.
    browser: [u8; 32],
    return_to: String,
    started: Instant,
}

/// A login that has begun.
#[derive(Debug)]
pub struct BegunLogin {
    /// Where the browser goes.
    pub url: String,
    /// The secret that the browser has to keep in a cookie.
    pub browser: String,
}

/// A user who has signed in.
#[derive(Debug)]
pub struct SignedIn {
    /// The caller that the user is, with the rights, groups and scopes of the token.
    pub caller: Arc<Caller>,
    /// The token, which was accepted.
    pub token: Secret,
    /// The page of the gateway that the login was begun for.
    pub return_to: String,
}

/// Why there is no login.
#[derive(Debug, Error)]
pub enum BrowserLoginError {
    /// No login with this state is under way in this browser.
    #[error("the response does not belong to a login that this browser has begun")]
    UnknownState,
    /// The issuer gave a token that is not accepted.
    #[error("the token of the issuer is not accepted")]
    Token,
    /// The issuer, or one that verifies its tokens, is out of reach.
    #[error("the issuer cannot be reached")]
    Unreachable,
    /// The exchange with the issuer failed.
    #[error(transparent)]
    OAuth(#[from] OAuthError),
}

impl BrowserLogins {
    /// Begins a login at an issuer. `return_to` is a path of the gateway, which a request must not choose freely.
    pub async fn begin(
        &self,
        rules: &TokenRules,
        issuer: &Arc<IssuerRules>,
        return_to: String,
    ) -> Result<BegunLogin, BrowserLoginError> {
        let what = "login";
        let login = issuer.login.as_ref();
        let login = login.ok_or(OAuthError::NoEndpoint { what })?;
        let metadata = self.metadata(issuer).await?;
        let client = login.client(&metadata);
        let resource = login.sends_resource.then(|| rules.resource(ENDPOINT));
        let redirect_uri = format!("{}{LOGIN_CALLBACK}", rules.public_url());
        let scope = login.scopes.join(" ");
        let request = AuthorizationRequest {
            client_id: &client.id,
            redirect_uri: &redirect_uri,
            resource: resource.as_deref(),
            scope: Some(&*scope).filter(|scope| !scope.is_empty()),
        };
        let started = Instant::now();
        let (url, authorization) = request.start(&metadata, started)?;
        let browser = random_token(SECRET_BYTES).ok_or(OAuthError::NoRandomness)?;
        self.keep(PendingLogin {
            issuer: Arc::clone(issuer),
            authorization,
            metadata,
            client,
            resource,
            browser: secret_digest(browser.as_bytes()),
            return_to,
            started,
        });
        Ok(BegunLogin { url, browser })
    }

    /// Completes a login with the query and the cookie that the browser came back with. The login is used up, whatever comes
    /// of it.
    pub async fn complete(
        &self,
        issuers: &Issuers,
        rules: &TokenRules,
        query: &str,
        browser: &str,
    ) -> Result<SignedIn, BrowserLoginError> {
        let unknown = BrowserLoginError::UnknownState;
        let login = self.take(query, browser).ok_or(unknown)?;
        // The configuration may have changed since.
        if !rules.issuers.contains(&login.issuer) {
            return Err(BrowserLoginError::UnknownState);
        }
        let code = login.authorization.complete(query, Instant::now())?;
        let http = HttpClient::new(login.issuer.reach);
        let grant = Grant::AuthorizationCode(&code);
        let resource = login.resource.as_deref();
        let granted = grant
            .request(http, &login.metadata, &login.client, resource, None)
            .await?;
        let (token, resource) = (granted.access_token.expose(), rules.resource(ENDPOINT));
        let verified = issuers.verify(rules, token, &resource).await;
        let verified = verified.map_err(|refusal| match refusal {
            TokenRefusal::Invalid(_) => BrowserLoginError::Token,
            TokenRefusal::Unreachable => BrowserLoginError::Unreachable,
        })?;
        // An issuer speaks for its own users only.
        if verified.issuer != login.issuer.issuer.name {
            return Err(BrowserLoginError::Token);
        }
        Ok(SignedIn {
            caller: Arc::new(rules.caller(&verified)),
            token: granted.access_token,
            return_to: login.return_to,
        })
    }

    async fn metadata(&self, issuer: &IssuerRules) -> Result<ServerMetadata, OAuthError> {
        let url = &issuer.issuer.url;
        let known = lock(&self.metadata).get(url).cloned();
        if let Some((fetched, metadata)) = known
            && fetched.elapsed() < METADATA_AGE
        {
            return Ok(metadata);
        }
        let found = ServerMetadata::discover(HttpClient::new(issuer.reach), url).await?;
        let mut all = lock(&self.metadata);
        all.retain(|_, (fetched, _)| fetched.elapsed() < METADATA_AGE);
        all.insert(url.clone(), (Instant::now(), found.clone()));
        Ok(found)
    }

    fn keep(&self, login: PendingLogin) {
        let mut logins = lock(&self.pending);
        logins.retain(|login| login.started.elapsed() < LOGIN_LIFETIME);
        if logins.len() >= MAX_LOGINS {
            logins.remove(0);
        }
        logins.push(login);
    }

    /// Takes the login that a response belongs to, by its state and by the browser's secret.
    fn take(&self, query: &str, browser: &str) -> Option<PendingLogin> {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let (_, state) = pairs.find(|(name, _)| name == "state")?;
        let browser = secret_digest(browser.as_bytes());
        let mut logins = lock(&self.pending);
        let index = logins.iter().position(|login| {
            login.authorization.matches_state(&state) && bool::from(login.browser.ct_eq(&browser))
        })?;
        Some(logins.remove(index))
    }
}
