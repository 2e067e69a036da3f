//! What the owner of a connection is told about its server while it runs.

use std::fmt;
use std::time::Duration;

/// Receives what happens at servers. Every method does nothing unless it is implemented.
pub trait Observer: fmt::Debug + Send + Sync {
    /// An answer came for which no request waits: late, doubled, or under a wrong id.
    fn stray_answer(&self, _server: &str) {}

    /// The server sent something that is not a message.
    fn message_skipped(&self, _server: &str, _message: &[u8]) {}

    /// A message was refused, for this reason.
    fn message_refused(&self, _server: &str, _reason: &'static str) {}

    /// The server was greeted and speaks this protocol version.
    fn server_started(&self, _server: &str, _version: &str) {}

    /// The server did not come up, or went away. It is tried again.
    fn server_failed(&self, _failure: &ServerFailure<'_>) {}
}

/// Ignores everything.
impl Observer for () {}

/// How a server failed.
#[derive(Clone, Copy, Debug)]
pub struct ServerFailure<'a> {
    /// The server's name.
    pub server: &'a str,
    /// Why, as it may be shown.
    pub reason: &'a str,
    /// The last lines it wrote to standard error, made safe for a terminal.
    pub stderr: &'a [String],
    /// Whether it could be called before.
    pub was_up: bool,
    /// How long until the next try.
    pub wait: Duration,
}
