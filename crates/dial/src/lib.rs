//! One connection to one origin: where it is, TCP, TLS where the address says so, and HTTP/1.1 on top.
//!
//! Whom a TLS connection trusts is decided here and nowhere else: the platform's certificates, one provider, no
//! exceptions. Nothing here follows a redirect, asks a proxy or keeps a connection for later.
//!
//! ```
//! use countersign_dial::Origin;
//!
//! let uri = "https://[::1]:8443/mcp".parse().unwrap();
//! let origin = Origin::of(&uri).unwrap();
//! assert_eq!((origin.host.as_str(), origin.port, origin.tls), ("::1", 8443, true));
//! # async fn connect(origin: Origin) -> std::io::Result<()> {
//! let mut wire = countersign_dial::dial(&origin).await?;
//! assert!(wire.is_usable());
//! # Ok(()) }
//! ```

mod origin;
mod wire;

pub use origin::Origin;
pub use wire::{Sender, Wire, dial};
