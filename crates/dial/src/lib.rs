//! Connections to one origin: where it is, TCP, TLS where the address says so, HTTP/1.1 on top, and a pool of them.
//!
//! Whom a TLS connection trusts is decided here and nowhere else: the platform's certificates, one provider, no
//! exceptions. Nothing here follows a redirect or asks a proxy, and no request is ever carried out twice.
//!
//! ```
//! use std::sync::Arc;
//!
//! use countersign_dial::{Origin, Pool};
//!
//! let uri = "https://[::1]:8443/mcp".parse().unwrap();
//! let origin = Origin::of(&uri).unwrap();
//! assert_eq!((origin.host.as_str(), origin.port, origin.tls), ("::1", 8443, true));
//! # async fn ask(origin: Origin) -> Result<(), countersign_dial::SendError> {
//! let pool = Arc::new(Pool::new(origin, 16));
//! let response = pool.send(hyper::Request::default()).await?;
//! // Whoever has read a response to its end gives the connection back.
//! response.into_body().done_after_rest();
//! # Ok(()) }
//! ```

mod origin;
mod pool;
mod wire;

pub use origin::Origin;
pub use pool::{Pool, Reply, SendError};
