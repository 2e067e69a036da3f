//! About servers: their coming and going, and what they say that is no answer.

use std::time::Duration;

use countersign_client::ServerFailure;

use super::{Events, LIFECYCLE, count};

/// So many lines of standard error go into the log; `servers logs` shows the rest.
const LOGGED_LINES: usize = 10;

event! {
    /// An answer came that no request waits for.
    StrayAnswer<'a> { server: &'a str }
    counts stray_answers, logs debug "dropped an answer that no request waits for"
}

event! {
    /// A child wrote something that is no message.
    LineSkipped<'a> { server: &'a str, bytes: usize }
    counts lines_skipped, logs debug "skipped a line that is no message"
}

event! {
    /// A child wrote more than is read.
    LineRefused<'a> { server: &'a str, why: &'static str }
    counts lines_refused, logs warn "refused a message"
}

event! {
    /// A server was greeted and can be called.
    ServerStarted<'a> { server: &'a str, version: &'a str }
    counts server_starts, logs debug "server was greeted"
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
