//! Finding the result in the bytes. What cannot be held or framed is refused here in every
//! mode, because forwarding it would mean not knowing what is forwarded: too large, not UTF-8,
//! not JSON, the wrong id, or one of the members we interpret written twice. Row 0 of the
//! decision table.

use countersign_tape::{Envelope, Hard, Kind, Member, ScanError, scan, scan_result};

use crate::examine::Policy;
use crate::found::Found;
use crate::reply::{Framing, RawReply};
use crate::verdict::{Finding, Severity, Stage};

/// Nesting costs one bit a level while scanning, so this bounds the scan's memory, not the
/// agent's patience; that is what the guards are for.
const MAX_DEPTH: u32 = 1_000_000;

/// Members whose repetition would let two readers see two different results.
const SINGLE: [Member; 7] = [
    Member::JsonRpc,
    Member::Id,
    Member::Result,
    Member::Error,
    Member::StructuredContent,
    Member::IsError,
    Member::ResultType,
];

/// Scans a reply: either its envelope, or the one reason it cannot be handled.
pub(crate) fn open(raw: &RawReply, policy: &Policy) -> Result<Envelope, Box<Found>> {
    let hard = Hard {
        max_bytes: policy.max_message_bytes,
        max_depth: MAX_DEPTH,
    };
    let envelope = read(raw, &hard).map_err(|error| refused(&error))?;
    if let Some(member) = envelope.duplicates().find(|member| SINGLE.contains(member)) {
        return Err(transport(
            "transport.not_json",
            format!("the member {member} occurs more than once"),
        ));
    }
    if envelope.get(Member::JsonRpc).is_some() || raw.source.framing == Framing::Message {
        check_message(raw, &envelope)?;
    }
    Ok(envelope)
}

fn read(raw: &RawReply, hard: &Hard) -> Result<Envelope, ScanError> {
    match raw.source.framing {
        Framing::Message => scan(&raw.bytes, hard),
        Framing::Result => scan_result(&raw.bytes, hard),
        Framing::Detect => {
            let envelope = scan(&raw.bytes, hard)?;
            if envelope.get(Member::JsonRpc).is_some() {
                return Ok(envelope);
            }
            scan_result(&raw.bytes, hard)
        }
    }
}

fn check_message(raw: &RawReply, envelope: &Envelope) -> Result<(), Box<Found>> {
    let framed = envelope.kind() == Kind::Object
        && envelope.result().is_some() != envelope.error().is_some();
    if !framed {
        return Err(transport(
            "transport.not_json",
            "not a response with either a result or an error",
        ));
    }
    let Some(id) = envelope.id() else {
        return Err(transport("transport.bad_id", "the response has no id"));
    };
    let expected = raw.source.id.as_deref();
    let matches = match expected {
        Some(expected) => id.bytes(&raw.bytes) == expected,
        None => matches!(id.kind(&raw.bytes), Some(Kind::Number | Kind::String)),
    };
    if matches {
        return Ok(());
    }
    Err(transport(
        "transport.bad_id",
        "the response does not carry the id of the request",
    ))
}

fn refused(error: &ScanError) -> Box<Found> {
    let rule = if error.is_too_large() || error.is_too_deep() {
        "transport.too_large"
    } else if error.is_not_utf8() {
        "transport.not_utf8"
    } else {
        "transport.not_json"
    };
    transport(rule, error.to_string())
}

fn transport(rule: &'static str, detail: impl Into<String>) -> Box<Found> {
    let finding = Finding::new(Stage::Transport, rule, Severity::Violation).detail(detail);
    Box::new(Found::plain(finding))
}
