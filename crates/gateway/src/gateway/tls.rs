//! The certificate that clients see, and the authorities of their own certificates. Both are files; what changes in them
//! holds for the next connection. Connections and handshakes under way keep what they began with, so none of them fails.

mod files;
mod follow;
mod handshake;

use arc_swap::ArcSwap;
use countersign_config::Tls as TlsConfig;
use countersign_inspect::Digest;
use tokio_rustls::rustls::ServerConfig;

use files::Files;
pub use files::{TlsError, check_certificate};
pub(super) use handshake::HandshakeError;

/// TLS for the sockets of a gateway.
pub(super) struct Tls {
    config: TlsConfig,
    current: ArcSwap<ServerConfig>,
    /// What the files held when the gateway started.
    first: Digest,
}

impl Tls {
    /// Reads the files; nothing if TLS is not set up. Blocks.
    pub(super) fn load(config: &TlsConfig) -> Result<Option<Self>, TlsError> {
        let Some(files) = Files::read(config)? else {
            return Ok(None);
        };
        if let Err(error) = files.check_time() {
            tracing::error!(error = %error, "clients will refuse the certificate");
        }
        Ok(Some(Self {
            config: config.clone(),
            first: files.digest(),
            current: ArcSwap::from_pointee(files.server_config()?),
        }))
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
