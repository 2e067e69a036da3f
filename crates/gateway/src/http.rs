//! HTTP below both MCP and the administration: bodies that come in, responses that go out, and the table of connections.

mod challenge;
mod connections;
pub(crate) mod intake;
mod peer;
mod response;

pub(crate) use challenge::{challenge, challenge_scopes, resource_metadata};
pub(crate) use connections::{ClientConnection, Connections};
pub(crate) use peer::Peer;
pub(crate) use response::{
    hears_events, json, not_allowed, plain, respond_with, turned_away, unread, with_type,
};
