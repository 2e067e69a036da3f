//! Tokens for servers, as sealed bytes: the store cannot read them. Several gateways may share them, so a change says
//! which generation it is a change of, and a lease says that one of them is asking for a new token.

use std::time::Duration;

/// Whose token it is, and for which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantOwner<'a> {
    /// The server's name.
    pub server: &'a str,
    /// The caller's name.
    pub caller: &'a str,
}

/// A token as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrant {
    /// The authorization server that gave it.
    pub issuer: String,
    /// Grows with every change, also over a removal.
    pub generation: u64,
    /// The token and what belongs to it, sealed.
    pub sealed: Vec<u8>,
}

/// The right to exchange one generation of a token for the next, for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantLease<'a> {
    /// The generation.
    pub generation: u64,
    /// Which process or task has it.
    pub holder: &'a str,
    /// How long it lasts, if it is not given back.
    pub lasts: Duration,
}
