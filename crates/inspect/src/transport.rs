//! Finding the result in the bytes. What cannot be held or framed is refused here in every
//! mode, because forwarding it would mean not knowing what is forwarded: too large, not UTF-8,
//! not JSON, the wrong id, or one of the members we interpret written twice. Row 0 of the
//! decision table.

use countersign_tape::{Envelope, Hard, Keep, Kept, Kind, Member, Scan, ScanError, Shelf};

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

/// A reply that can be handled.
pub(crate) struct Opened<'a> {
    pub(crate) text: &'a str,
    pub(crate) envelope: Envelope,
    /// The parts that the later stages want as tapes.
    pub(crate) kept: Kept<'a>,
}

/// Scans a reply: either what is in it, or the one reason it cannot be handled.
pub(crate) fn open<'a>(
    raw: &'a RawReply,
    policy: &Policy,
    keep: Keep,
    shelf: &mut Shelf,
) -> Result<Opened<'a>, Box<Found>> {
    let hard = Hard {
        max_bytes: policy.max_message_bytes,
        max_depth: MAX_DEPTH,
    };
    let text = admit(raw, policy)?;
    let mut scan = Scan { hard, keep, shelf };
    let read = read(text, raw.source.framing, &mut scan);
    let (envelope, kept) = read.map_err(|error| refused(&error))?;
    if let Some(member) = envelope.duplicates().find(|member| SINGLE.contains(member)) {
        return Err(transport(
            "transport.not_json",
            format!("the member {member} occurs more than once"),
        ));
    }
    if envelope.get(Member::JsonRpc).is_some() || raw.source.framing == Framing::Message {
        check_message(raw, &envelope)?;
    }
    Ok(Opened {
        text,
        envelope,
        kept,
    })
}

/// Checks size and encoding once, so that later stages can slice.
fn admit<'a>(raw: &'a RawReply, policy: &Policy) -> Result<&'a str, Box<Found>> {
    if raw.len() > policy.max_message_bytes {
        let limit = policy.max_message_bytes;
        return Err(transport(
            "transport.too_large",
            format!("{} bytes, more than {limit}", raw.len()),
        ));
    }
    std::str::from_utf8(&raw.bytes).map_err(|error| {
        let offset = error.valid_up_to();
        transport("transport.not_utf8", format!("not UTF-8 at byte {offset}"))
    })
}

fn read<'a>(
    text: &'a str,
    framing: Framing,
    scan: &mut Scan<'_>,
) -> Result<(Envelope, Kept<'a>), ScanError> {
    match framing {
        Framing::Message => scan.message(text),
        Framing::Result => scan.result(text),
        Framing::Detect => {
            let (envelope, kept) = scan.message(text)?;
            if envelope.get(Member::JsonRpc).is_some() {
                return Ok((envelope, kept));
            }
            scan.result(text)
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
    } else {
        "transport.not_json"
    };
    transport(rule, error.to_string())
}

fn transport(rule: &'static str, detail: impl Into<String>) -> Box<Found> {
    let finding = Finding::new(Stage::Transport, rule, Severity::Violation).detail(detail);
    Box::new(Found::plain(finding))
}
