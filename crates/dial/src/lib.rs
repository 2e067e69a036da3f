//! Connections to MCP servers. For HTTP: a pool of HTTP/1.1 connections to one origin, over TCP or TLS. For stdio:
//! child processes, which end together with everything they started. Input is bounded: each body and each event by
//! its size, all of them together by a memory budget. Requests to AWS and to object stores are signed by [`sigv4`].
//!
//! TLS trust is decided here and nowhere else: the platform's certificates, or one certificate that is known beforehand
//! ([`PinnedCertificate`]), and one provider. Redirects are not followed, proxies are not used, and no request is ever executed twice.
//!
//! ```
//! use std::sync::Arc;
//!
//! use countersign_dial::{Budget, Origin, Pool, gather};
//!
//! let uri = "https://[::1]:8443/mcp".parse().unwrap();
//! let origin = Origin::from_uri(&uri).unwrap();
//! assert_eq!((origin.host.as_str(), origin.port, origin.tls), ("::1", 8443, true));
//! # async fn ask(origin: Origin) -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Arc::new(Pool::new(origin, 16));
//! let mut reply = pool.send(hyper::Request::default()).await?.into_body();
//! let body = gather(&mut reply, 1 << 20, &Budget::new(1 << 24)).await?;
//! // Read to its end, so the connection can be reused.
//! reply.done();
//! # Ok(()) }
//! ```

mod body_buffer;
mod budget;
mod child;
mod connect_error;
mod connection;
mod event_stream;
mod gather;
pub mod keeper;
mod lines;
mod lock;
mod media_type;
mod origin;
mod pinned;
mod pool;
mod reach;
pub mod sigv4;
mod site;
mod tail;
mod wake_filter;

pub use budget::{Budget, MemoryReservation, NoMemory};
pub use child::{Child, Pipes, inheritable};
pub use connect_error::explain;
pub use connection::AddressFilter;
pub use event_stream::{EventStream, ResumePoint};
pub use gather::{ReadError, gather};
pub use lines::{Line, LineRefusal, Lines};
pub use lock::lock;
pub use media_type::MediaType;
pub use origin::Origin;
pub use pinned::PinnedCertificate;
pub use pool::{Pool, Reply, SendError};
pub use reach::Reach;
pub use site::{Site, SiteError};
pub use tail::Tail;
pub use wake_filter::WakeFilter;
