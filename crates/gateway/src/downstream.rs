//! How clients come in: MCP over HTTP, and MCP over standard input and output. Turns messages into calls and other requests,
//! and knows nothing of servers. A request is given the snapshot of the moment it came in.

mod batch;
mod client;
pub(crate) mod http;
mod instructions;
mod listen;
mod mcp;
mod message;
mod relay;
mod stdio;
mod via;

pub(crate) use stdio::{StdioClient, write};
