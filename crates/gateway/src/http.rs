//! HTTP below both MCP and the administration: bodies that come in, responses that go out, and the table of connections.

pub(crate) mod intake;
mod response;
mod visits;

pub(crate) use response::{
    hears_events, json, not_allowed, plain, respond_with, turned_away, unread,
};
pub(crate) use visits::{Visit, Visits};
