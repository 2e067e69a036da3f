//! About servers: their coming and going, and what they say that is no answer.

use super::{Events, count};

/// An answer came for which nobody waits.
pub(crate) struct StrayAnswer<'a> {
    pub(crate) server: &'a str,
}

impl StrayAnswer<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.stray_answers);
        tracing::debug!(server = self.server, "dropped an answer nobody waits for");
    }
}

/// A child wrote something that is no message.
pub(crate) struct LineSkipped<'a> {
    pub(crate) server: &'a str,
    pub(crate) bytes: usize,
}

impl LineSkipped<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.lines_skipped);
        let Self { server, bytes } = *self;
        tracing::debug!(server, bytes, "skipped a line that is no message");
    }
}

/// A child wrote more than is read.
pub(crate) struct LineRefused<'a> {
    pub(crate) server: &'a str,
    pub(crate) why: &'static str,
}

impl LineRefused<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.lines_refused);
        let Self { server, why } = *self;
        tracing::warn!(server, why, "refused a message");
    }
}

/// A server is up.
pub(crate) struct ServerStarted<'a> {
    pub(crate) server: &'a str,
    pub(crate) version: &'a str,
}

impl ServerStarted<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.server_starts);
        let Self { server, version } = *self;
        tracing::info!(server, version, "server is up");
    }
}

/// A server did not come up.
pub(crate) struct ServerStartFailed<'a> {
    pub(crate) server: &'a str,
    pub(crate) error: &'a (dyn std::error::Error + 'static),
    /// The end of what it wrote to standard error.
    pub(crate) stderr: &'a str,
    pub(crate) retry_ms: u64,
}

impl ServerStartFailed<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.server_start_failures);
        let Self {
            server,
            error,
            stderr,
            retry_ms,
        } = *self;
        tracing::warn!(server, error, stderr, retry_ms, "server did not start");
    }
}

/// A server that was up went away.
pub(crate) struct ServerLost<'a> {
    pub(crate) server: &'a str,
    pub(crate) status: &'a str,
    pub(crate) retry_ms: u64,
}

impl ServerLost<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.server_losses);
        let Self {
            server,
            status,
            retry_ms,
        } = *self;
        tracing::warn!(server, status, retry_ms, "server went away");
    }
}
