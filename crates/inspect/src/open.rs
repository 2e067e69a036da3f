//! Stage 1, reading a reply: find the result in the bytes, refuse what cannot be read as one message, and check that it
//! has the shape MCP gives a result.

pub(crate) mod base64;
pub(crate) mod message;
pub(crate) mod mirror;
pub(crate) mod reply;
pub(crate) mod shape;
pub(crate) mod transport;
