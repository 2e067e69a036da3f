//! The part of a trace that one call is: a SERVER span towards the client and a CLIENT span towards the server. The
//! numbers are known when the call begins, because the server is told about the CLIENT span; the spans are written when
//! the call has ended.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::context::{SpanContext, format_traceparent};

/// One call as a part of a trace.
#[derive(Clone, Debug)]
pub struct CallTrace {
    pub(crate) trace_id: [u8; 16],
    pub(crate) parent: Option<SpanContext>,
    pub(crate) link: Option<SpanContext>,
    pub(crate) server_span: [u8; 8],
    pub(crate) client_span: [u8; 8],
    pub(crate) is_sampled: bool,
}

impl CallTrace {
    /// A call begins. `parent` is the span that the message names, `link` the one that its transport names. Without a
    /// parent this is the beginning of a trace; a parent that is not recorded is not recorded here either.
    pub fn begin(parent: Option<SpanContext>, link: Option<SpanContext>) -> Self {
        let new_trace = || {
            let [high, low] = [random(), random()].map(u64::to_be_bytes);
            let mut id = [0; 16];
            for (to, from) in id.iter_mut().zip(high.into_iter().chain(low)) {
                *to = from;
            }
            id
        };
        Self {
            trace_id: parent
                .as_ref()
                .map_or_else(new_trace, |parent| parent.trace_id),
            is_sampled: parent.as_ref().is_none_or(SpanContext::is_sampled),
            parent,
            link,
            server_span: random().to_be_bytes(),
            client_span: random().to_be_bytes(),
        }
    }

    /// A call that is a part of the trace of `parent`, and of which no spans are written here.
    pub fn within(parent: SpanContext) -> Self {
        Self {
            is_sampled: false,
            ..Self::begin(Some(parent), None)
        }
    }

    /// `traceparent` for the server: the CLIENT span of the call. Nothing if the call is not recorded; the server is then
    /// told what the client said.
    pub fn traceparent(&self) -> Option<String> {
        let is_recorded = self.is_sampled;
        is_recorded.then(|| format_traceparent(self.trace_id, self.client_span))
    }

    /// Whether `tracestate` of the client belongs to this trace.
    pub fn keeps_state(&self) -> bool {
        let parent = self.parent.as_ref();
        parent.is_some_and(|parent| !parent.state.is_empty())
    }
}

/// A number that no other span has, never 0. Not secret: a counter from a random beginning, scattered.
pub(crate) fn random() -> u64 {
    static NEXT: OnceLock<(AtomicU64, u64)> = OnceLock::new();
    let (next, key) = NEXT.get_or_init(|| {
        let seed = || getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id()));
        (AtomicU64::new(seed()), seed())
    });
    // An odd step visits every number before one comes again, and the scattering maps no two numbers to one.
    let counter = next.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    let mut scattered = counter ^ key;
    scattered = (scattered ^ (scattered >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    scattered = (scattered ^ (scattered >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (scattered ^ (scattered >> 31)).max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn numbers_differ() {
        let numbers: BTreeSet<u64> = (0..10_000).map(|_| random()).collect();
        assert_eq!(numbers.len(), 10_000);
    }

    #[test]
    fn a_trace_goes_on_under_its_parent_and_begins_without_one() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let context = SpanContext::parse(parent, Some("a=b"));
        let child = CallTrace::begin(context.clone(), None);
        let told = child.traceparent().expect("recorded");
        assert!(told.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-"));
        assert_ne!(told, parent);
        assert!(child.keeps_state());
        let root = CallTrace::begin(None, context);
        assert_ne!(root.trace_id, child.trace_id);
        assert!(!root.keeps_state());
        let silent = SpanContext::parse(&parent.replace("-01", "-00"), None);
        assert_eq!(CallTrace::begin(silent, None).traceparent(), None);
    }
}
