//! How clients come in: MCP over HTTP, and MCP over standard input and output. Turns messages into calls and other requests,
//! and knows nothing of servers. A request is given the snapshot of the moment it came in.

mod announced;
mod batch;
mod client;
mod client_transport;
pub(crate) mod http;
mod instructions;
mod listener;
mod mcp;
mod message;
mod relay;
mod stdio;
mod subscription;
mod trace_context;

pub(crate) use stdio::{StdioClient, write};
