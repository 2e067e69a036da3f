//! HTTP below both MCP and the administration: bodies that come in, responses that go out, and the table of connections.

mod connections;
pub(crate) mod intake;
mod response;

pub(crate) use connections::{ClientConnection, Connections};
pub(crate) use response::{
    hears_events, json, not_allowed, plain, respond_with, turned_away, unread, with_type,
};
