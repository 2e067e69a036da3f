//! Why an exchange with an authorization server, or with a server's metadata, failed. No message repeats text of the peer.

use std::io;

use thiserror::Error;

/// What went wrong.
#[derive(Debug, Error)]
pub enum OAuthError {
    /// An address is not https (or http to a local address where that is allowed), or cannot be read.
    #[error("the {what} is not an address that may be used")]
    Address {
        /// Which address: a member of the metadata, or a setting.
        what: &'static str,
    },
    /// The addresses of a host may not be connected to.
    #[error("the host is at an address that may not be connected to")]
    Forbidden,
    /// No connection, or it broke.
    #[error("the server cannot be reached")]
    Unreachable(#[source] io::Error),
    /// No whole response in time.
    #[error("no response within 5 s")]
    TimedOut,
    /// The response is larger than it may be.
    #[error("the response is too large")]
    TooLarge,
    /// The response is a redirect, which is not followed.
    #[error("the server redirects (status {0}), which is not followed")]
    Redirected(u16),
    /// The response has a status other than success.
    #[error("the server answered with status {0}")]
    Status(u16),
    /// The server refused the request with an error code of OAuth.
    #[error("the authorization server refused: {0}")]
    Refused(RefusalCode),
    /// A document or response lacks something, or has it in another form.
    #[error("the {what} cannot be read")]
    Malformed {
        /// Which document.
        what: &'static str,
    },
    /// No address has the metadata.
    #[error("no {what} was found")]
    NoMetadata {
        /// Which document.
        what: &'static str,
    },
    /// The metadata of an authorization server, or its response, names another issuer.
    #[error("the issuer is not the expected one")]
    IssuerMismatch,
    /// The metadata of a resource is for another resource.
    #[error("the metadata is for another resource")]
    ResourceMismatch,
    /// The authorization server does not say that it supports PKCE with S256.
    #[error("the authorization server does not offer PKCE with S256")]
    NoPkce,
    /// The private key of a client cannot be read, or is not for the algorithm.
    #[error("the private key is not one in PEM (PKCS #8) for the algorithm")]
    PrivateKey,
    /// The authorization server lacks an endpoint.
    #[error("the authorization server has no {what}")]
    NoEndpoint {
        /// Its name in the metadata.
        what: &'static str,
    },
    /// The response belongs to another request, or comes too late.
    #[error("the response does not belong to a login that is under way")]
    StateMismatch,
    /// The system has no random numbers.
    #[error("no random numbers")]
    NoRandomness,
}

/// The error codes of OAuth that mean something to an operator.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum RefusalCode {
    /// The user or the server declined.
    #[error("access_denied")]
    AccessDenied,
    /// The client is unknown, or did not prove who it is.
    #[error("invalid_client")]
    InvalidClient,
    /// The code or the refresh token is not, or no longer, valid.
    #[error("invalid_grant")]
    InvalidGrant,
    /// A redirect address or another value of a registration is not accepted.
    #[error("invalid_redirect_uri")]
    InvalidRedirectUri,
    /// The request lacks something.
    #[error("invalid_request")]
    InvalidRequest,
    /// A scope is unknown or not allowed.
    #[error("invalid_scope")]
    InvalidScope,
    /// The resource is unknown (RFC 8707).
    #[error("invalid_target")]
    InvalidTarget,
    /// The client may not use this grant.
    #[error("unauthorized_client")]
    UnauthorizedClient,
    /// The server does not know this grant.
    #[error("unsupported_grant_type")]
    UnsupportedGrantType,
    /// Another code.
    #[error("an error of its own")]
    Other,
}

impl RefusalCode {
    /// The code of a name.
    pub fn from_name(name: &str) -> Self {
        match name {
            "access_denied" => Self::AccessDenied,
            "invalid_client" => Self::InvalidClient,
            "invalid_grant" => Self::InvalidGrant,
            "invalid_redirect_uri" => Self::InvalidRedirectUri,
            "invalid_request" => Self::InvalidRequest,
            "invalid_scope" => Self::InvalidScope,
            "invalid_target" => Self::InvalidTarget,
            "unauthorized_client" => Self::UnauthorizedClient,
            "unsupported_grant_type" => Self::UnsupportedGrantType,
            _ => Self::Other,
        }
    }
}
