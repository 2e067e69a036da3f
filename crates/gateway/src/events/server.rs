//! About servers: their coming and going, and what they say that is no answer.

use std::time::Duration;

use countersign_client::ServerFailure;

use super::{Events, LIFECYCLE, count};

/// So many lines of standard error go into the log; `servers logs` shows the rest.
const LOGGED_LINES: usize = 10;

/// An answer came that no request waits for.
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

/// A server was greeted and can be called.
pub(crate) struct ServerStarted<'a> {
    pub(crate) server: &'a str,
    pub(crate) version: &'a str,
}

impl ServerStarted<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.server_starts);
        let Self { server, version } = *self;
        tracing::debug!(server, version, "server was greeted");
    }
}

/// A server has been greeted and has listed its tools: the one line about a start that went well.
pub(crate) struct ServerReady<'a> {
    pub(crate) server: &'a str,
    pub(crate) transport: &'static str,
    pub(crate) era: &'static str,
    pub(crate) version: &'a str,
    pub(crate) tools: usize,
    /// Since it was started or connected to.
    pub(crate) after: Duration,
}

impl ServerReady<'_> {
    pub(crate) fn emit(&self) {
        let Self {
            server,
            transport,
            era,
            version,
            tools,
            after,
        } = *self;
        let ms = millis(after);
        tracing::info!(target: LIFECYCLE, server, transport, era, version, tools, ms, "server is up");
    }
}

/// A server did not come up, or went away. It is tried again.
pub(crate) struct ServerFailed<'a>(pub(crate) ServerFailure<'a>);

impl ServerFailed<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        let Self(failure) = self;
        let ServerFailure { server, reason, .. } = *failure;
        let surplus = failure.stderr.len().saturating_sub(LOGGED_LINES);
        let lines = failure.stderr.get(surplus..).unwrap_or_default();
        let stderr = (!lines.is_empty()).then(|| lines.join("\n"));
        let (stderr, retry_ms) = (stderr.as_deref(), millis(failure.wait));
        if failure.was_up {
            count(&events.server_losses);
            tracing::warn!(server, reason, stderr, retry_ms, "server went away");
        } else {
            count(&events.server_start_failures);
            tracing::warn!(server, reason, stderr, retry_ms, "server did not start");
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
