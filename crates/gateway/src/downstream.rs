//! Clients: who they are, what they may, and what they ask. Turns HTTP requests, and lines
//! on standard input, into calls and other questions, and knows nothing of servers. Stage 1.

mod api;
mod batch;
mod client;
mod http;
mod instructions;
mod intake;
mod level;
mod listen;
mod mcp;
mod message;
mod relay;
mod session;
mod stdio;
mod via;

pub(crate) use api::events::Feed;
pub(crate) use client::Client;
pub(crate) use http::serve;
pub(crate) use session::Sessions;
pub(crate) use stdio::{Door, write};
