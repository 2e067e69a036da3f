//! A decision of the activity log, as an OTLP log record.

use std::time::SystemTime;

use crate::call::{CALLER, Target, unix_nanos};
use crate::protobuf::{Message, Value, cut};
use crate::trace::CallTrace;

/// Fields of `LogRecord`.
mod field {
    pub(super) const TIME: u32 = 1;
    pub(super) const SEVERITY: u32 = 2;
    pub(super) const SEVERITY_TEXT: u32 = 3;
    pub(super) const BODY: u32 = 5;
    pub(super) const ATTRIBUTES: u32 = 6;
    pub(super) const FLAGS: u32 = 8;
    pub(super) const TRACE_ID: u32 = 9;
    pub(super) const SPAN_ID: u32 = 10;
    pub(super) const OBSERVED: u32 = 11;
    pub(super) const EVENT_NAME: u32 = 12;
}

/// The name of the event.
const EVENT: &str = "countersign.decision";
const SAMPLED: u32 = 1;

/// A decision about a call. Of what was found only the rules are told: reasons and places may name members of a result.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// The call in its trace, if calls are traced.
    pub trace: Option<&'a CallTrace>,
    /// When it was made.
    pub time: SystemTime,
    /// `allowed`, `flagged`, `rewritten` or `blocked`.
    pub decision: &'a str,
    /// How much it should be noticed.
    pub severity: Severity,
    /// The id of its record in the activity log.
    pub activity_id: &'a str,
    /// The id of the record of the call, if there is one.
    pub parent_id: Option<&'a str>,
    /// The method of the protocol.
    pub method: Option<&'a str>,
    /// What was called.
    pub target: Target<'a>,
    /// The name of the server in the configuration.
    pub server: Option<&'a str>,
    /// Who called, as the activity log names callers.
    pub caller: Option<&'a str>,
    /// The public name of the client's session.
    pub session: Option<&'a str>,
    /// The client's id of the request.
    pub request_id: Option<&'a str>,
    /// The mode in force.
    pub mode: Option<&'a str>,
    /// The rules that something was found by, each once.
    pub rules: &'a [&'a str],
}

/// How much a decision should be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// `INFO`
    Info,
    /// `WARN`
    Warn,
}

impl Decision<'_> {
    pub(crate) fn write(&self) -> Message {
        let mut record = Message::with_capacity(512);
        let time = unix_nanos(self.time);
        record.fixed64(field::TIME, time);
        record.fixed64(field::OBSERVED, time);
        let (number, text) = match self.severity {
            Severity::Info => (9, "INFO"),
            Severity::Warn => (13, "WARN"),
        };
        record.number(field::SEVERITY, number);
        record.text(field::SEVERITY_TEXT, text);
        record.text(field::EVENT_NAME, EVENT);
        let body = self.body();
        record.message(field::BODY, |to| to.any_value(Value::Text(&body)));
        self.write_attributes(&mut record);
        if let Some(trace) = self.trace {
            record.bytes(field::TRACE_ID, &trace.trace_id);
            let (span, flags) = match (&trace.parent, trace.is_sampled) {
                (Some(parent), false) => (&parent.span_id, u32::from(parent.flags)),
                _ => (&trace.server_span, SAMPLED),
            };
            record.bytes(field::SPAN_ID, span);
            record.fixed32(field::FLAGS, flags);
        }
        record
    }

    /// The record for a person: the decision, what it is about, and the rules.
    fn body(&self) -> String {
        let mut body = self.decision.to_owned();
        let name = match self.target {
            Target::Tool(name) | Target::Prompt(name) => Some(name),
            Target::Other => None,
        };
        let about: Vec<&str> = [self.server, name.map(cut)].into_iter().flatten().collect();
        if !about.is_empty() {
            body.extend([" ", &about.join(":")]);
        }
        if !self.rules.is_empty() {
            body.extend([" (", &self.rules.join(", "), ")"]);
        }
        body
    }

    fn write_attributes(&self, record: &mut Message) {
        let attributes = [
            Some(("countersign.decision", self.decision)),
            Some(("countersign.activity.id", self.activity_id)),
            self.parent_id
                .map(|id| ("countersign.activity.parent_id", id)),
            self.mode.map(|mode| ("countersign.mode", mode)),
            self.server.map(|name| ("countersign.server.name", name)),
            self.method.map(|method| ("mcp.method.name", method)),
            self.caller.map(|caller| (CALLER, caller)),
            self.session.map(|session| ("mcp.session.id", session)),
            self.request_id.map(|id| ("jsonrpc.request.id", id)),
        ];
        for (key, text) in attributes.into_iter().flatten() {
            record.attribute(field::ATTRIBUTES, key, Value::Text(text));
        }
        if let Some((key, value)) = self.target.attribute() {
            record.attribute(field::ATTRIBUTES, key, value);
        }
        if !self.rules.is_empty() {
            let rules = Value::Texts(self.rules);
            record.attribute(field::ATTRIBUTES, "countersign.rules", rules);
        }
    }
}
