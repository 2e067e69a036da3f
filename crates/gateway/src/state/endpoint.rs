//! The endpoints that clients connect to.

use std::sync::Arc;

/// Which set of tools a client sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// Tools that call the others.
    Router,
    /// Every tool of every server.
    Direct,
    /// One server's tools.
    Server(Arc<str>),
}
