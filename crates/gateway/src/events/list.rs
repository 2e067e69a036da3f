//! About tool lists: what was captured of them, and what was not.

use super::{Events, count};

/// A server's tools are known.
pub(crate) struct ListCaptured<'a> {
    pub(crate) server: &'a str,
    pub(crate) tools: usize,
    /// Whether it is the first list since the server came up, of which another line tells.
    pub(crate) is_first: bool,
}

impl ListCaptured<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.lists_captured);
        let Self {
            server,
            tools,
            is_first,
        } = *self;
        if !is_first {
            tracing::info!(server, tools, "tool list captured");
        }
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

/// A server changes its list so often that the next one is fetched later.
pub(crate) struct ListDelayed<'a> {
    pub(crate) server: &'a str,
    pub(crate) seconds: u64,
}

impl ListDelayed<'_> {
    pub(crate) fn emit(&self, events: &Events) {
        count(&events.lists_delayed);
        let Self { server, seconds } = *self;
        tracing::warn!(
            server,
            seconds,
            "the server changes its tool list too often; it is fetched again later"
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
