//! What the connection of a request says about its client.

use std::sync::Arc;

/// What a connection has shown of its client before the first request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Peer {
    /// It came over the network and has shown nothing.
    #[default]
    Network,
    /// It has shown a certificate that was verified: the URI names in it, and the DNS names in small letters.
    Certificate(Arc<[String]>),
    /// It came by a Unix socket; the kernel says which user it runs as.
    Local(u32),
}

impl Peer {
    /// Whether it is a process of this machine that came by a Unix socket.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }
}
