//! A health check has no token: the running gateway keeps it, sealed, and no other process may use it up.

use std::sync::Arc;

use countersign_client::{Authorizer, AuthorizerFuture, NoAuthorization, TokenRefusal};
use countersign_config::Server;
use hyper::header::HeaderValue;
use tokio::sync::watch;

/// Says where the token of a server is.
#[derive(Debug)]
pub(super) struct TokenOfGateway {
    hint: Arc<str>,
    changes: watch::Sender<u64>,
}

impl TokenOfGateway {
    pub(super) fn for_server(server: &Server) -> Arc<dyn Authorizer> {
        let name = &server.name;
        let hint = format!(
            "only the running gateway has a token for it; see `countersign auth status {name}`, and log in with `countersign auth login {name}`"
        );
        Arc::new(Self {
            hint: hint.into(),
            changes: watch::Sender::new(0),
        })
    }
}

impl Authorizer for TokenOfGateway {
    fn authorize(&self) -> AuthorizerFuture<'_, Result<HeaderValue, NoAuthorization>> {
        Box::pin(async { Err(NoAuthorization::NeedsLogin(Arc::clone(&self.hint))) })
    }

    fn refused(
        &self,
        _: TokenRefusal,
    ) -> AuthorizerFuture<'_, Result<Option<HeaderValue>, NoAuthorization>> {
        Box::pin(async { Ok(None) })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
