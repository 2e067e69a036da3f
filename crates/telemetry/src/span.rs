//! The spans of a call, as OTLP has them.

use crate::call::{ATTRIBUTES, CALLER, Call, Exchange, unix_nanos};
use crate::context::SpanContext;
use crate::protobuf::{Message, Value};
use crate::trace::CallTrace;

/// Fields of `Span`.
mod field {
    pub(super) const TRACE_ID: u32 = 1;
    pub(super) const SPAN_ID: u32 = 2;
    pub(super) const TRACE_STATE: u32 = 3;
    pub(super) const PARENT_SPAN_ID: u32 = 4;
    pub(super) const NAME: u32 = 5;
    pub(super) const KIND: u32 = 6;
    pub(super) const START: u32 = 7;
    pub(super) const END: u32 = 8;
    pub(super) const LINKS: u32 = 13;
    pub(super) const STATUS: u32 = 15;
    pub(super) const FLAGS: u32 = 16;
}

const SERVER: u64 = 2;
const CLIENT: u64 = 3;
const STATUS_ERROR: u64 = 2;
const SAMPLED: u32 = 0x1;
/// The two bits that say where the parent is: that this is known, and that it is another process.
const HAS_PLACE: u32 = 0x100;
const IS_REMOTE: u32 = 0x200;

/// The SERVER span: the call as the client sees it.
pub(crate) fn write_server_span(call: &Call<'_>, trace: &CallTrace, attributes: &[u8]) -> Message {
    let mut span = Message::with_capacity(512);
    span.bytes(field::TRACE_ID, &trace.trace_id);
    span.bytes(field::SPAN_ID, &trace.server_span);
    let mut flags = SAMPLED | HAS_PLACE;
    if let Some(parent) = &trace.parent {
        write_state(&mut span, field::TRACE_STATE, parent);
        span.bytes(field::PARENT_SPAN_ID, &parent.span_id);
        flags |= IS_REMOTE;
    }
    write_exchange(&mut span, call, SERVER, &call.towards_client);
    span.0.extend_from_slice(attributes);
    let id = Value::Text(call.request_id);
    span.attribute(ATTRIBUTES, "jsonrpc.request.id", id);
    let activity = Value::Text(call.activity_id);
    span.attribute(ATTRIBUTES, "countersign.activity.id", activity);
    let decision = Value::Text(call.decision);
    span.attribute(ATTRIBUTES, "countersign.decision", decision);
    if let Some(caller) = call.caller {
        span.attribute(ATTRIBUTES, CALLER, Value::Text(caller));
    }
    if let Some(session) = call.session {
        span.attribute(ATTRIBUTES, "mcp.session.id", Value::Text(session));
    }
    if let Some(link) = &trace.link {
        span.message(field::LINKS, |to| write_link(to, link));
    }
    span.fixed32(field::FLAGS, flags);
    span
}

/// The CLIENT span: the exchange with the server.
pub(crate) fn write_client_span(
    call: &Call<'_>,
    trace: &CallTrace,
    exchange: &Exchange<'_>,
    attributes: &[u8],
) -> Message {
    let mut span = Message::with_capacity(512);
    span.bytes(field::TRACE_ID, &trace.trace_id);
    span.bytes(field::SPAN_ID, &trace.client_span);
    if let Some(parent) = &trace.parent {
        write_state(&mut span, field::TRACE_STATE, parent);
    }
    span.bytes(field::PARENT_SPAN_ID, &trace.server_span);
    write_exchange(&mut span, call, CLIENT, exchange);
    span.0.extend_from_slice(attributes);
    if let Some(number) = exchange.request_number {
        let number = number.to_string();
        let id = Value::Text(&number);
        span.attribute(ATTRIBUTES, "jsonrpc.request.id", id);
    }
    span.fixed32(field::FLAGS, SAMPLED | HAS_PLACE);
    span
}

/// What both spans have, except their attributes.
fn write_exchange(span: &mut Message, call: &Call<'_>, kind: u64, exchange: &Exchange<'_>) {
    span.text(field::NAME, &call.span_name());
    span.number(field::KIND, kind);
    span.fixed64(field::START, unix_nanos(exchange.start));
    let end = exchange.start + exchange.duration;
    span.fixed64(field::END, unix_nanos(end));
    if exchange.error.is_some() {
        span.message(field::STATUS, |status| status.number(3, STATUS_ERROR));
    }
}

fn write_link(to: &mut Message, context: &SpanContext) {
    to.bytes(1, &context.trace_id);
    to.bytes(2, &context.span_id);
    write_state(to, 3, context);
    to.fixed32(6, u32::from(context.flags) | HAS_PLACE | IS_REMOTE);
}

fn write_state(to: &mut Message, field: u32, context: &SpanContext) {
    if !context.state.is_empty() {
        to.text(field, &context.state);
    }
}
