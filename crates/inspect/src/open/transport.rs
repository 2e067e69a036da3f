//! Finds the result in the bytes. A reply that cannot be read as one message is refused here in every
//! mode, because the gateway would not know what it forwards: too large, too deep, not UTF-8, not
//! JSON, the wrong id, or a repeated member that the gateway interprets.

use countersign_tape::{
    Envelope, Kind, Member, PartBuffers, PartTapes, Scan, ScanError, ScanLimits, Span, ValueReader,
    WantedParts,
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
    pub(crate) tapes: PartTapes<'a>,
}

/// Scans a reply: either what is in it, or the one reason it cannot be handled.
pub(crate) fn open<'a, 'e, 's>(
    bytes: &'a [u8],
    source: &Source,
    policy: &Policy,
    (wanted, buffers, reader): (
        WantedParts,
        &'s mut PartBuffers,
        Option<&'s mut (dyn ValueReader + 's)>,
    ),
    envelope: &'e mut Envelope,
) -> Result<OpenedReply<'a, 'e>, Box<ExplainedFinding>> {
    let limits = ScanLimits {
        max_bytes: policy.max_message_bytes,
        max_depth: policy.max_message_depth,
    };
    let text = check_size_and_encoding(bytes, policy)?;
    let mut scan = Scan {
        limits,
        wanted,
        buffers,
        reader,
    };
    let read = read(text, source.framing, &mut scan, envelope);
    let tapes = read.map_err(|error| scan_finding(&error))?;
    if let Some(member) = envelope.duplicates().find(|member| SINGLE.contains(member)) {
        let detail = format!("the member {member} occurs more than once");
        return Err(transport_finding("transport.not_json", detail));
    }
    if envelope.get(Member::JsonRpc).is_some() || source.framing == Framing::Message {
        check_message(bytes, source, envelope)?;
    }
    Ok(OpenedReply {
        text,
        envelope,
        tapes,
    })
}

/// Checks size and encoding once, so that later stages can slice.
fn check_size_and_encoding<'a>(
    bytes: &'a [u8],
    policy: &Policy,
) -> Result<&'a str, Box<ExplainedFinding>> {
    let (length, limit) = (bytes.len(), policy.max_message_bytes);
    if length > limit {
        let detail = format!("{length} bytes, more than {limit}");
        return Err(transport_finding("transport.too_large", detail));
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
) -> Result<PartTapes<'a>, ScanError> {
    match framing {
        Framing::Message => scan.message(text, envelope),
        Framing::Result => scan.result(text, envelope),
        Framing::Detect => {
            let tapes = scan.message(text, envelope)?;
            if envelope.get(Member::JsonRpc).is_some() {
                return Ok(tapes);
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
    let is_object = |value: Span| value.kind(bytes) == Some(Kind::Object);
    let is_version = |value: Span| value.is_text(bytes, "2.0");
    let is_expected = |id: Span| match source.id.as_deref() {
        Some(expected) => id.bytes(bytes) == expected,
        None => matches!(id.kind(bytes), Some(Kind::Number | Kind::String)),
    };
    let (rule, detail) = if envelope.kind() != Kind::Object
        || envelope.result().is_some() == envelope.error().is_some()
    {
        let detail = "not a response with either a result or an error";
        ("transport.not_json", detail)
    } else if !envelope.error().is_none_or(is_object) {
        ("transport.not_json", "the error is not an object")
    } else if !envelope.get(Member::JsonRpc).is_none_or(is_version) {
        ("transport.not_json", "jsonrpc is not \"2.0\"")
    } else if envelope.id().is_none() {
        ("transport.bad_id", "the response has no id")
    } else if !envelope.id().is_some_and(is_expected) {
        let detail = "the response does not carry the id of the request";
        ("transport.bad_id", detail)
    } else {
        return Ok(());
    };
    Err(transport_finding(rule, detail))
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
    Box::new(ExplainedFinding::without_sentence(finding))
}
