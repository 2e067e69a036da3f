//! The trace that a client says its request belongs to. The message itself names the parent; what the HTTP headers name
//! is the transport's own trace, and becomes a link.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::ClientEra;
use countersign_tape::{Span, members};
use countersign_telemetry::{CallTrace, SpanContext, Transport};
use countersign_wire::meta::{TRACEPARENT, TRACESTATE};
use countersign_wire::version::{LEGACY, MODERN};
use hyper::HeaderMap;

use super::client_transport::ClientTransport;
use crate::services::{CallSignals, Signals};

/// What is known of a call when it begins; nothing if no signals are sent.
pub(super) fn begin(
    signals: &Signals,
    meta: Option<&Bytes>,
    transport: ClientTransport<'_>,
    era: ClientEra,
) -> Option<Arc<CallSignals>> {
    if !signals.is_on() {
        return None;
    }
    let parent = meta.and_then(from_meta);
    let (network, link) = match transport {
        ClientTransport::Http(headers, _) => (Transport::Tcp, from_headers(headers)),
        ClientTransport::Pipe(_) => (Transport::Pipe, None),
    };
    let trace = if signals.has_traces() {
        Some(CallTrace::begin(parent, link))
    } else {
        parent.map(CallTrace::within)
    };
    Some(CallSignals::new(trace, version(transport, era), network))
}

/// The context in `_meta`. What is there twice is read as nothing, because two readers would see two parents.
fn from_meta(meta: &Bytes) -> Option<SpanContext> {
    let (mut parent, mut state) = (None, None);
    for (key, value) in members(meta, Span::whole(meta)) {
        let place = match key.string(meta).as_deref() {
            Some(TRACEPARENT) => &mut parent,
            Some(TRACESTATE) => &mut state,
            _ => continue,
        };
        if place.replace(value).is_some() {
            return None;
        }
    }
    let parent = parent?.string(meta)?;
    let state = state.and_then(|state| state.string(meta));
    SpanContext::parse(&parent, state.as_deref())
}

fn from_headers(headers: &HeaderMap) -> Option<SpanContext> {
    let mut parents = headers.get_all(TRACEPARENT).iter();
    let parent = parents.next()?.to_str().ok()?;
    if parents.next().is_some() {
        return None;
    }
    let states: Option<Vec<&str>> = headers
        .get_all(TRACESTATE)
        .iter()
        .map(|state| state.to_str().ok())
        .collect();
    let state = states.filter(|states| !states.is_empty());
    SpanContext::parse(parent, state.map(|states| states.join(",")).as_deref())
}

/// The version that the client speaks, if its request says so.
fn version(transport: ClientTransport<'_>, era: ClientEra) -> Option<&'static str> {
    if era == ClientEra::Modern {
        return Some(MODERN);
    }
    let ClientTransport::Http(headers, _) = transport else {
        return None;
    };
    let said = headers.get("MCP-Protocol-Version")?;
    LEGACY
        .into_iter()
        .find(|version| said.as_bytes() == version.as_bytes())
}
