//! About calls: that one was answered, or that its records were lost.

use super::{Events, count};

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
