//! Where the `Authorization` header of a server's requests comes from, if a login or a client's own credentials give it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use hyper::StatusCode;
use hyper::header::HeaderValue;
use thiserror::Error;
use tokio::sync::watch;

/// The answer of an [`Authorizer`], when it comes.
pub type AuthorizerFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Gives the `Authorization` header of each request to one server.
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// The header of the next request.
    fn authorize(&self) -> AuthorizerFuture<'_, Result<HeaderValue, NoAuthorization>>;

    /// The server refused a request with 401 or 403. Gives a header for one more try, or nothing if the refusal stands.
    fn refused(
        &self,
        refusal: TokenRefusal,
    ) -> AuthorizerFuture<'_, Result<Option<HeaderValue>, NoAuthorization>>;

    /// Changes whenever a token was given or taken away by an operator.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// How a server refused a token. `Debug` does not show the token: its header is marked as sensitive.
#[derive(Debug)]
pub struct TokenRefusal {
    /// The header that was sent.
    pub sent: HeaderValue,
    /// 401 or 403.
    pub status: StatusCode,
    /// What the server asks for.
    pub challenge: Option<HeaderValue>,
    /// Whether the header was itself given for one more try. There is no third.
    pub is_retry: bool,
}

/// Why there is no header.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoAuthorization {
    /// A user has to log in; this says how.
    #[error("{0}")]
    NeedsLogin(Arc<str>),
    /// The token lacks scopes that the server wants for this request, and a user can log in again to grant them; this says
    /// how. Other requests may go on with the token.
    #[error("{0}")]
    LacksScopes(Arc<str>),
    /// A token cannot be obtained at the moment, for this reason.
    #[error("no token for it can be obtained: {0}")]
    Unavailable(Arc<str>),
}
