//! Finds the result in the bytes. A reply that cannot be read as one message is refused here in every
//! mode, because the gateway would not know what it forwards: too large, too deep, not UTF-8, not
//! JSON, the wrong id, or a repeated member that the gateway interprets.

use countersign_tape::{
    Envelope, Keep, Kept, Kind, Member, Scan, ScanError, ScanLimits, Shelf, Span,
};

use crate::open::reply::{Framing, Source};
use crate::policy::Policy;
use crate::verdict::explained::ExplainedFinding;
use crate::verdict::{Finding, Severity, Stage};

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
pub(crate) struct OpenedReply<'a, 'e> {
    pub(crate) text: &'a str,
    pub(crate) envelope: &'e Envelope,
    /// The parts that the later stages want as tapes.
    pub(crate) kept: Kept<'a>,
}

/// Scans a reply: either what is in it, or the one reason it cannot be handled.
pub(crate) fn open<'a, 'e>(
    bytes: &'a [u8],
    source: &Source,
    policy: &Policy,
    (keep, shelf): (Keep, &mut Shelf),
    envelope: &'e mut Envelope,
) -> Result<OpenedReply<'a, 'e>, Box<ExplainedFinding>> {
    let hard = ScanLimits {
        max_bytes: policy.max_message_bytes,
        max_depth: policy.max_message_depth,
    };
    let text = check_size_and_encoding(bytes, policy)?;
    let mut scan = Scan { hard, keep, shelf };
    let read = read(text, source.framing, &mut scan, envelope);
    let kept = read.map_err(|error| scan_finding(&error))?;
    if let Some(member) = envelope.duplicates().find(|member| SINGLE.contains(member)) {
        return Err(transport_finding(
            "transport.not_json",
            format!("the member {member} occurs more than once"),
        ));
    }
    if envelope.get(Member::JsonRpc).is_some() || source.framing == Framing::Message {
        check_message(bytes, source, envelope)?;
    }
    Ok(OpenedReply {
        text,
        envelope,
        kept,
    })
}

/// Checks size and encoding once, so that later stages can slice.
fn check_size_and_encoding<'a>(
    bytes: &'a [u8],
    policy: &Policy,
) -> Result<&'a str, Box<ExplainedFinding>> {
    if bytes.len() > policy.max_message_bytes {
        let limit = policy.max_message_bytes;
        return Err(transport_finding(
            "transport.too_large",
            format!("{} bytes, more than {limit}", bytes.len()),
        ));
    }
    simdutf8::compat::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        transport_finding("transport.not_utf8", format!("not UTF-8 at byte {offset}"))
    })
}

fn read<'a>(
    text: &'a str,
    framing: Framing,
    scan: &mut Scan<'_>,
    envelope: &mut Envelope,
) -> Result<Kept<'a>, ScanError> {
    match framing {
        Framing::Message => scan.message(text, envelope),
        Framing::Result => scan.result(text, envelope),
        Framing::Detect => {
            let kept = scan.message(text, envelope)?;
            if envelope.get(Member::JsonRpc).is_some() {
                return Ok(kept);
            }
            scan.result(text, envelope)
        }
    }
}

fn check_message(
    bytes: &[u8],
    source: &Source,
    envelope: &Envelope,
) -> Result<(), Box<ExplainedFinding>> {
    let framed = envelope.kind() == Kind::Object
        && envelope.result().is_some() != envelope.error().is_some();
    if !framed {
        return Err(transport_finding(
            "transport.not_json",
            "not a response with either a result or an error",
        ));
    }
    let is_object = |value: Span| value.kind(bytes) == Some(Kind::Object);
    if !envelope.error().is_none_or(is_object) {
        return Err(transport_finding(
            "transport.not_json",
            "the error is not an object",
        ));
    }
    let is_version = |value: Span| value.string(bytes).is_some_and(|text| text == "2.0");
    if !envelope.get(Member::JsonRpc).is_none_or(is_version) {
        return Err(transport_finding(
            "transport.not_json",
            "jsonrpc is not \"2.0\"",
        ));
    }
    let Some(id) = envelope.id() else {
        return Err(transport_finding(
            "transport.bad_id",
            "the response has no id",
        ));
    };
    let expected = source.id.as_deref();
    let matches = match expected {
        Some(expected) => id.bytes(bytes) == expected,
        None => matches!(id.kind(bytes), Some(Kind::Number | Kind::String)),
    };
    if matches {
        return Ok(());
    }
    Err(transport_finding(
        "transport.bad_id",
        "the response does not carry the id of the request",
    ))
}

fn scan_finding(error: &ScanError) -> Box<ExplainedFinding> {
    let rule = if error.is_too_large() {
        "transport.too_large"
    } else if error.is_too_deep() {
        "transport.too_deep"
    } else {
        "transport.not_json"
    };
    transport_finding(rule, error.to_string())
}

fn transport_finding(rule: &'static str, detail: impl Into<String>) -> Box<ExplainedFinding> {
    let finding = Finding::new(Stage::Transport, rule, Severity::Violation).detail(detail);
    Box::new(ExplainedFinding::plain(finding))
}
