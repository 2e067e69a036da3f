//! The next token of a server: exchanged for the refresh token, or asked for with the client's own credentials. One task of
//! a process asks at a time, and of all processes that share a store the one that has the lease of the row. The others
//! read what it got. A refresh token may be valid only once, so an exchange goes on even if the request that needed it has
//! been given up.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use countersign_audit::GrantLease;
use countersign_client::NoAuthorization;
use countersign_config::OAuthGrant;
use countersign_oauth::{Grant, OAuthError, RefusalCode, ServerMetadata};
use tokio::time::{Instant, sleep};

use super::configured_client::configured_client;
use super::discovery::Discovery;
use super::server_grant::{HeldToken, LoadedGrant, ServerGrant};
use super::tokens::Tokens;
use crate::secrets::random_token;

/// Longer than any exchange: discovery and the token endpoint have 5 s for each request.
const LEASE: Duration = Duration::from_secs(30);
/// How long another process's exchange is waited for.
const PATIENCE: Duration = Duration::from_secs(35);
/// How often the store is looked at meanwhile.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

type Held = Result<Arc<HeldToken>, NoAuthorization>;

/// What came of one try to exchange a stored token.
enum Exchange {
    Done(Held),
    /// Another process has the lease, or was faster.
    Again,
}

impl ServerGrant {
    /// A token that can be used; `refused` is the generation that the server does not accept.
    pub(super) async fn renewed(self: &Arc<Self>, refused: Option<u64>) -> Held {
        let grant = Arc::clone(self);
        let task = tokio::spawn(async move { grant.renew(refused).await });
        let failed = || NoAuthorization::Unavailable("a bug ended the exchange".into());
        task.await.unwrap_or_else(|_| Err(failed()))
    }

    async fn renew(&self, refused: Option<u64>) -> Held {
        let _one_at_a_time = self.renewing.lock().await;
        let is_accepted = |generation| refused.is_none_or(|refused| generation > refused);
        if let Some(held) = self.held()
            && held.is_fresh()
            && is_accepted(held.generation)
        {
            return Ok(held);
        }
        if self.oauth.grant == OAuthGrant::ClientCredentials {
            return self.own_token().await;
        }
        let give_up_at = Instant::now() + PATIENCE;
        loop {
            let Some(loaded) = self.load().await? else {
                return Err(self.needs_login("no user has logged in to it"));
            };
            match self.try_exchange(loaded, refused).await? {
                Exchange::Done(held) => return held,
                Exchange::Again if Instant::now() > give_up_at => {
                    let why = "another gateway is taking too long to get it";
                    return Err(NoAuthorization::Unavailable(why.into()));
                }
                Exchange::Again => sleep(LOOK_AGAIN).await,
            }
        }
    }

    async fn try_exchange(
        &self,
        loaded: LoadedGrant,
        refused: Option<u64>,
    ) -> Result<Exchange, NoAuthorization> {
        let generation = loaded.generation;
        let Some(tokens) = loaded.tokens else {
            let why = "its token cannot be opened: seal_key or its url has changed";
            return Err(self.needs_login(why));
        };
        if self.is_given_up(generation) {
            return Err(self.needs_login("its login has expired"));
        }
        let is_accepted = refused.is_none_or(|refused| generation > refused);
        if is_accepted && tokens.is_fresh(SystemTime::now()) {
            return Ok(Exchange::Done(self.hold(generation, tokens)));
        }
        if tokens.refresh_token.is_none() && is_accepted && !tokens.is_expired(SystemTime::now()) {
            return Ok(Exchange::Done(self.hold(generation, tokens)));
        }
        if tokens.refresh_token.is_none() {
            return Err(self.needs_login("its login has expired"));
        }
        let holder = random_token(16).unwrap_or_default();
        if !self.lease(generation, &holder).await? {
            return Ok(Exchange::Again);
        }
        match self.exchange(&loaded.issuer, &tokens).await {
            Ok(next) => self.take_over(generation, &loaded.issuer, next).await,
            Err(error) => {
                self.release(generation, &holder).await;
                self.explain_failure(generation, tokens, is_accepted, &error)
                    .await
            }
        }
    }

    /// Asks the token endpoint. The metadata is read again each time: it says where that endpoint is now.
    async fn exchange(&self, issuer: &str, tokens: &Tokens) -> Result<Tokens, OAuthError> {
        let Some(refresh_token) = &tokens.refresh_token else {
            return Err(OAuthError::Refused(RefusalCode::InvalidGrant));
        };
        let metadata = ServerMetadata::discover(self.http, issuer).await?;
        let resource = tokens.resource.as_deref();
        // A private key is not stored, and a secret may have been replaced since.
        let configured = configured_client(&self.oauth, &metadata).await?;
        let configured = configured.filter(|client| client.id == tokens.client.id);
        let client = configured.as_ref().unwrap_or(&tokens.client);
        let granted = Grant::RefreshToken(refresh_token)
            .request(self.http, &metadata, client, resource, None)
            .await?;
        Ok(tokens.succeeded_by(granted))
    }

    /// Stores the new token. If another generation is there by now, that one is used.
    async fn take_over(
        &self,
        generation: u64,
        issuer: &str,
        next: Tokens,
    ) -> Result<Exchange, NoAuthorization> {
        let sealed = self.sealed(issuer, &next)?;
        let swapped = self
            .store(move |reader, owner| reader.swap_grant(owner, generation, &sealed))
            .await;
        match swapped {
            Ok(false) => Ok(Exchange::Again),
            // Without a store the token is still good for this process.
            Ok(true) | Err(_) => Ok(Exchange::Done(self.hold(generation + 1, next))),
        }
    }

    /// Writes the scopes that the server missed beside the token, so that a login at any gateway asks for them. If the store
    /// has a newer token that has them, that one is used. Goes on even if the request that was refused has been given up.
    pub(super) async fn share_wanted_scopes(self: &Arc<Self>) {
        let grant = Arc::clone(self);
        let task = tokio::spawn(async move { grant.write_wanted_scopes().await });
        if let Ok(Err(error)) = task.await {
            let server = &*self.server;
            tracing::warn!(server, %error, "the scopes that a server asks for cannot be stored");
        }
    }

    async fn write_wanted_scopes(&self) -> Result<(), NoAuthorization> {
        let _one_at_a_time = self.renewing.lock().await;
        let Some(loaded) = self.load().await? else {
            return Ok(());
        };
        let (generation, Some(mut tokens)) = (loaded.generation, loaded.tokens) else {
            return Ok(());
        };
        let wanted = self.wanted_scopes();
        let has = |scope: &String| tokens.scopes().any(|it| it == scope);
        if wanted.iter().all(has) {
            return self.hold(generation, tokens).map(drop);
        }
        let wanted = Vec::from_iter(wanted).join(" ");
        if tokens.wanted_scope.as_ref() == Some(&wanted) {
            return Ok(());
        }
        tokens.wanted_scope = Some(wanted);
        // An exchange that is under way elsewhere must not find another generation when it ends.
        let holder = random_token(16).unwrap_or_default();
        if self.lease(generation, &holder).await? {
            self.take_over(generation, &loaded.issuer, tokens).await?;
        }
        Ok(())
    }

    async fn explain_failure(
        &self,
        generation: u64,
        tokens: Tokens,
        is_accepted: bool,
        error: &OAuthError,
    ) -> Result<Exchange, NoAuthorization> {
        let server = &*self.server;
        tracing::warn!(server, %error, "the token of a server cannot be exchanged");
        if matches!(error, OAuthError::Refused(RefusalCode::InvalidGrant)) {
            // A login, or an exchange whose lease ran out, may have been faster.
            let is_newer = |loaded: LoadedGrant| loaded.generation > generation;
            if self.load().await?.is_some_and(is_newer) {
                return Ok(Exchange::Again);
            }
            self.give_up(generation);
            return Err(self.needs_login("its login has expired"));
        }
        if is_accepted && !tokens.is_expired(SystemTime::now()) {
            return Ok(Exchange::Done(self.hold(generation, tokens)));
        }
        Err(NoAuthorization::Unavailable(error.to_string().into()))
    }

    async fn lease(&self, generation: u64, holder: &str) -> Result<bool, NoAuthorization> {
        let holder = holder.to_owned();
        self.store(move |reader, owner| reader.lease_grant(owner, lease(generation, &holder)))
            .await
    }

    async fn release(&self, generation: u64, holder: &str) {
        let holder = holder.to_owned();
        let released = self
            .store(move |reader, owner| reader.release_grant(owner, lease(generation, &holder)));
        // A lease that is not given back runs out.
        drop(released.await);
    }

    /// A token for the gateway itself. It is not stored: a new one can be had at any time.
    async fn own_token(&self) -> Held {
        let failed = |error: OAuthError| {
            let server = &*self.server;
            tracing::warn!(server, %error, "no token for a server can be obtained");
            NoAuthorization::Unavailable(error.to_string().into())
        };
        let found = Discovery::run(self).await.map_err(failed)?;
        let unset = || self.needs_login("it needs oauth.client_id and oauth.client_secret");
        let client = configured_client(&self.oauth, &found.metadata).await;
        let client = client.map_err(failed)?.ok_or_else(unset)?;
        let (resource, scope) = (found.resource(self), found.scope(self, &[]));
        let granted = Grant::ClientCredentials
            .request(
                self.http,
                &found.metadata,
                &client,
                resource.as_deref(),
                scope.as_deref(),
            )
            .await
            .map_err(failed)?;
        let generation = self.held().map_or(0, |held| held.generation) + 1;
        self.hold(
            generation,
            Tokens::granted(granted, client, resource, scope),
        )
    }
}

fn lease(generation: u64, holder: &str) -> GrantLease<'_> {
    GrantLease {
        generation,
        holder,
        lasts: LEASE,
    }
}
