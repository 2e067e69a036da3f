//! A server that is a child process: one message a line over its standard streams.

pub(crate) mod connection;
pub(crate) mod handshake;
pub(crate) mod outbox;
pub(crate) mod program;
