//! About servers: their coming and going, and what they say that is no answer.

use std::time::Duration;

use countersign_client::{Observer, ServerFailure};

use super::{Events, LIFECYCLE, count};

/// So many lines of standard error go into the log; `servers logs` shows the rest.
const LOGGED_LINES: usize = 10;

impl Observer for Events {
    fn stray_answer(&self, server: &str) {
        count(&self.stray_answers);
        tracing::debug!(server, "dropped an answer that no request waits for");
    }

    fn message_skipped(&self, server: &str, message: &[u8]) {
        count(&self.lines_skipped);
        let bytes = message.len();
        tracing::debug!(server, bytes, "skipped a line that is no message");
    }

    fn message_refused(&self, server: &str, why: &'static str) {
        count(&self.lines_refused);
        tracing::warn!(server, why, "refused a message");
    }

    fn server_started(&self, server: &str, version: &str) {
        count(&self.server_starts);
        tracing::debug!(server, version, "server was greeted");
    }

    fn server_failed(&self, failure: &ServerFailure<'_>) {
        let ServerFailure { server, reason, .. } = *failure;
        let surplus = failure.stderr.len().saturating_sub(LOGGED_LINES);
        let lines = failure.stderr.get(surplus..).unwrap_or_default();
        let stderr = (!lines.is_empty()).then(|| lines.join("\n"));
        let (stderr, retry_ms) = (stderr.as_deref(), millis(failure.wait));
        if failure.was_up {
            count(&self.server_losses);
            tracing::warn!(server, reason, stderr, retry_ms, "server went away");
        } else {
            count(&self.server_start_failures);
            tracing::warn!(server, reason, stderr, retry_ms, "server did not start");
        }
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

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
