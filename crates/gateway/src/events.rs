//! What an operator should know about the running gateway, as types: emitting one writes the log
//! line and counts it, so the two cannot disagree. Payloads are never among the fields.

mod classified;

use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use classified::Classified;

use crate::reload::{Applied, Said};

macro_rules! counters {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        /// How often each thing has happened since the start.
        #[derive(Debug, Default)]
        pub(crate) struct Events {
            $($(#[$meta])* $name: AtomicU64,)+
        }

        impl Events {
            /// Every counter by its name.
            pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.load(Ordering::Relaxed)),)+]
            }
        }
    };
}

counters! {
    /// Calls answered.
    calls,
    /// Answers nobody waited for: late, doubled, or under a wrong id.
    stray_answers,
    /// Lines of a child that are no messages.
    lines_skipped,
    /// Lines of a child that were too long, or that there was no memory for.
    lines_refused,
    /// Times a server came up.
    server_starts,
    /// Times a server could not be started.
    server_start_failures,
    /// Times a running server went away.
    server_losses,
    /// Tool lists captured.
    lists_captured,
    /// Tool lists that could not be fetched.
    list_failures,
    /// Tool lists that have no end, or more than is kept.
    lists_cut,
    /// Entries of tool lists that are no tools.
    tools_skipped,
    /// Requests with a wrong or missing key.
    unauthorised,
    /// Requests with a foreign `Host` or `Origin`.
    foreign,
    /// Calls whose records could not be written.
    unrecorded,
    /// Times a new configuration came to hold.
    config_reloads,
    /// Times a new configuration was refused.
    config_refusals,
    /// Results a classifier was asked about.
    classified,
    /// Those of them it had no verdict about, or not about all of it.
    classifier_errors,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// A call was answered.
pub(crate) struct CallAnswered<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) decision: &'static str,
    pub(crate) micros: u64,
}

impl CallAnswered<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.calls);
        let Self {
            server,
            tool,
            decision,
            micros,
        } = *self;
        tracing::debug!(server, tool, decision, micros, "call answered");
    }
}

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

/// A server's tools are known.
pub(crate) struct ListCaptured<'a> {
    pub(crate) server: &'a str,
    pub(crate) tools: usize,
}

impl ListCaptured<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.lists_captured);
        let Self { server, tools } = *self;
        tracing::info!(server, tools, "tool list captured");
    }
}

/// A server's tools could not be listed; what was known of them stays.
pub(crate) struct ListFailed<'a> {
    pub(crate) server: &'a str,
    pub(crate) why: &'a str,
}

impl ListFailed<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.list_failures);
        let Self { server, why } = *self;
        tracing::warn!(
            server,
            why,
            "tool list not captured; the last known one stays"
        );
    }
}

/// A list was not read to its end.
pub(crate) struct ListCut<'a> {
    pub(crate) server: &'a str,
    pub(crate) why: &'static str,
}

impl ListCut<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.lists_cut);
        let Self { server, why } = *self;
        tracing::warn!(server, why, "tool list cut");
    }
}

/// An entry of a tool list was left out.
pub(crate) struct ToolSkipped<'a> {
    pub(crate) server: &'a str,
    pub(crate) index: usize,
    pub(crate) why: &'a str,
}

impl ToolSkipped<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.tools_skipped);
        let Self { server, index, why } = *self;
        tracing::warn!(server, index, why, "left out an entry of the tool list");
    }
}

/// Somebody without the key.
pub(crate) struct Unauthorised {
    pub(crate) header: &'static str,
}

impl Unauthorised {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.unauthorised);
        tracing::info!(
            header = self.header,
            "refused a request without a valid key"
        );
    }
}

/// A request that another site's page may have sent.
pub(crate) struct Foreign {
    pub(crate) header: &'static str,
}

impl Foreign {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.foreign);
        tracing::warn!(
            header = self.header,
            "refused a request from a foreign host"
        );
    }
}

/// A call's records were lost.
pub(crate) struct Unrecorded<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) refused: bool,
}

impl Unrecorded<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.unrecorded);
        let Self {
            server,
            tool,
            refused,
        } = *self;
        tracing::error!(
            server,
            tool,
            refused,
            "the activity store did not take a call's records"
        );
    }
}

/// A new configuration holds.
pub(crate) struct ConfigApplied<'a> {
    pub(crate) file: &'a str,
    pub(crate) applied: &'a Applied,
}

impl ConfigApplied<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.config_reloads);
        let Self { file, applied } = *self;
        let changed = applied.changed.join(", ");
        tracing::info!(file, changed, "the new configuration holds");
        for warning in &applied.warnings {
            let hint = warning.hint.as_deref().unwrap_or_default();
            tracing::warn!(hint, "{}", warning.message);
        }
        if !applied.needs_restart.is_empty() {
            let keys = applied.needs_restart.join(", ");
            tracing::warn!(
                file,
                keys,
                "these settings wait for a restart; the rest holds"
            );
        }
    }
}

/// A new configuration cannot be used.
pub(crate) struct ConfigRefused<'a> {
    pub(crate) file: &'a str,
    pub(crate) errors: &'a [Said],
}

impl ConfigRefused<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.config_refusals);
        let Self { file, errors } = *self;
        for error in errors {
            let hint = error.hint.as_deref().unwrap_or_default();
            let error = &*error.message;
            tracing::warn!(
                file,
                error,
                hint,
                "the new configuration is not used; what held before holds"
            );
        }
    }
}
