//! The ways to a server. Connections to one origin: where it is, TCP, TLS where the address says so, HTTP/1.1 on top,
//! and a pool of them. What comes back is read within bounds: a body or an event by its size, all of them together by
//! a budget of memory. And child processes, which end with everything they started.
//!
//! Whom a TLS connection trusts is decided here and nowhere else: the platform's certificates, one provider, no
//! exceptions. Nothing here follows a redirect or asks a proxy, and no request is ever carried out twice.
//!
//! ```
//! use std::sync::Arc;
//!
//! use countersign_dial::{Budget, Origin, Pool, gather};
//!
//! let uri = "https://[::1]:8443/mcp".parse().unwrap();
//! let origin = Origin::of(&uri).unwrap();
//! assert_eq!((origin.host.as_str(), origin.port, origin.tls), ("::1", 8443, true));
//! # async fn ask(origin: Origin) -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Arc::new(Pool::new(origin, 16));
//! let mut reply = pool.send(hyper::Request::default()).await?.into_body();
//! let body = gather(&mut reply, 1 << 20, &Budget::new(1 << 24)).await?;
//! // Whoever has read a response to its end gives the connection back.
//! reply.done();
//! # Ok(()) }
//! ```

mod budget;
mod child;
mod event_stream;
mod form;
mod gather;
pub mod keeper;
mod origin;
mod pool;
mod site;
mod wire;

pub use budget::{Budget, Held, Starved};
pub use child::{Child, Pipes, Tail, inheritable};
pub use event_stream::EventStream;
pub use form::Form;
pub use gather::{ReadError, gather};
pub use origin::Origin;
pub use pool::{Pool, Reply, SendError};
pub use site::{Site, SiteError};
