//! A server over HTTP, in either era: Streamable HTTP, or the transport before it with one stream for everything the server
//! sends. The client connects to the configured address only and follows no redirects.

pub(crate) mod greet;
pub(crate) mod link;
pub(crate) mod listen;
pub(crate) mod request;
mod response;
mod session;
pub(crate) mod sse_transport;
