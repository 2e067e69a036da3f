//! Gives the token of a server to its requests, and learns from those that the server refuses.

use std::sync::Arc;

use countersign_client::{Authorizer, AuthorizerFuture, NoAuthorization, TokenRefusal};
use countersign_dial::lock;
use countersign_oauth::Challenge;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use tokio::sync::watch;
use tokio::time::Instant;

use super::server_grant::ServerGrant;

/// Gives the token to the requests of a server.
#[derive(Debug)]
pub(super) struct GrantAuthorizer(pub(super) Arc<ServerGrant>);

impl Authorizer for GrantAuthorizer {
    fn authorize(&self) -> AuthorizerFuture<'_, Result<HeaderValue, NoAuthorization>> {
        Box::pin(async {
            if let Some(held) = self.0.held()
                && held.is_fresh()
            {
                return Ok(held.header.clone());
            }
            Ok(self.0.renewed(None).await?.header.clone())
        })
    }

    fn refused(
        &self,
        refusal: TokenRefusal,
    ) -> AuthorizerFuture<'_, Result<Option<HeaderValue>, NoAuthorization>> {
        Box::pin(async move {
            let challenge = refusal.challenge.as_ref();
            let challenge = challenge.and_then(|value| Challenge::parse(value.to_str().ok()?));
            if refusal.status != StatusCode::UNAUTHORIZED {
                self.0.remember_scopes(challenge.as_ref());
                if !self.0.can_ask_for_scopes(challenge.as_ref()) {
                    return Ok(None);
                }
                self.0.share_wanted_scopes().await;
                if let Some(held) = self.0.held()
                    && held.header != refusal.sent
                    && !refusal.is_retry
                {
                    // The user has logged in again meanwhile.
                    return Ok(Some(held.header.clone()));
                }
                let why = "the server asks for more scopes than its user has granted";
                return Err(NoAuthorization::LacksScopes(why.into()));
            }
            if refusal.is_retry {
                *lock(&self.0.refused_retry) = Some(Instant::now());
                return Ok(None);
            }
            let refused = match self.0.held() {
                // Another request has noticed already.
                Some(held) if held.header != refusal.sent => return Ok(Some(held.header.clone())),
                Some(held) => held.generation,
                None => 0,
            };
            if !self.0.may_exchange_refused() {
                return Ok(None);
            }
            Ok(Some(self.0.renewed(Some(refused)).await?.header.clone()))
        })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }
}
