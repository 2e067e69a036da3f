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

event! {
    /// A server's tools could not be listed; what was known of them stays.
    ListFailed<'a> { server: &'a str, why: &'a str }
    counts list_failures, logs warn "tool list not captured; the last known one stays"
}

event! {
    /// A server changes its list so often that the next one is fetched later.
    ListDelayed<'a> { server: &'a str, seconds: u64 }
    counts lists_delayed, logs warn "the server changes its tool list too often; it is fetched again later"
}

event! {
    /// A list was not read to its end.
    ListCut<'a> { server: &'a str, why: &'static str }
    counts lists_cut, logs warn "tool list cut"
}

event! {
    /// An entry of a tool list was left out.
    ToolSkipped<'a> { server: &'a str, index: usize, why: &'a str }
    counts tools_skipped, logs warn "left out an entry of the tool list"
}
