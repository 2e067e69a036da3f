//! What a client of the other era can read. A legacy client rejects a whole result over
//! `structuredContent` that is not an object, or that accompanies an error, so the value moves
//! into a text block, byte for byte; nothing is ever wrapped or cast. A client that negotiated
//! nothing gets what the upstream sent. The one place where a conforming result is edited.

use countersign_tape::{
    Edits, Envelope, Kind, Limits, Member, Place, Span, Tape, elements, members, quote,
};

use crate::config::{Egress, OutputValidation};
use crate::equal::equal;
use crate::reply::{ClientEra, Era};
use crate::scratch::with_tape;

/// The edits a result needs on its way to a client; `None` if it can go as it is.
pub(crate) fn edits<'a>(
    bytes: &'a [u8],
    envelope: &Envelope,
    upstream: Era,
    client: ClientEra,
    config: &OutputValidation,
) -> Option<Edits<'a>> {
    let result = envelope.result()?;
    if result.kind(bytes) != Some(Kind::Object) {
        return None;
    }
    let mut edits = Edits::new(bytes);
    match (client, config.legacy_egress) {
        (ClientEra::Legacy, Egress::Convert) => {
            move_structured(bytes, envelope, result, config, &mut edits);
            if upstream == Era::Modern && envelope.get(Member::ResultType).is_some() {
                remove(bytes, result, "resultType", &mut edits);
            }
        }
        (ClientEra::Modern, _)
            if upstream == Era::Legacy && envelope.get(Member::ResultType).is_none() =>
        {
            edits.insert_member(result, Place::First, "resultType", b"\"complete\"");
        }
        _ => {}
    }
    (!edits.is_empty()).then_some(edits)
}

fn move_structured(
    bytes: &[u8],
    envelope: &Envelope,
    result: Span,
    config: &OutputValidation,
    edits: &mut Edits<'_>,
) {
    let Some(value) = envelope.structured_content() else {
        return;
    };
    if envelope.is_error(bytes) == Some(true) {
        remove(bytes, result, "structuredContent", edits);
        return;
    }
    let content = envelope.content();
    let readable = content.is_none_or(|content| content.kind(bytes) == Some(Kind::Array));
    if value.kind(bytes) == Some(Kind::Object) || !readable {
        return;
    }
    remove(bytes, result, "structuredContent", edits);
    if !said_in_text(bytes, envelope, value, config) {
        let block = text_block(value.bytes(bytes));
        append_block(bytes, result, content, &block, edits);
    }
}

fn remove(bytes: &[u8], object: Span, name: &str, edits: &mut Edits<'_>) {
    let mut keys = members(bytes, object).map(|(key, _)| key);
    if let Some(key) = keys.find(|key| key.string(bytes).is_some_and(|key| key == name)) {
        edits.remove_member(object, key);
    }
}

fn append_block(
    bytes: &[u8],
    result: Span,
    content: Option<Span>,
    block: &[u8],
    edits: &mut Edits<'_>,
) {
    let Some(content) = content else {
        let list = [b"[", block, b"]"].concat();
        edits.insert_member(result, Place::Last, "content", &list);
        return;
    };
    let end = content.end.saturating_sub(1);
    let is_empty = elements(bytes, content).next().is_none();
    let lead: &[u8] = if is_empty { b"" } else { b"," };
    edits.replace(Span::new(end, end), [lead, block].concat());
}

/// A text block that holds a JSON value's exact bytes.
fn text_block(value: &[u8]) -> Vec<u8> {
    // The scan has seen that the whole message is UTF-8.
    let text = std::str::from_utf8(value).unwrap_or_default();
    [&br#"{"type":"text","text":"#[..], &quote(text), b"}"].concat()
}

/// Whether some text block already holds this value, whatever its spelling.
pub(crate) fn said_in_text(
    bytes: &[u8],
    envelope: &Envelope,
    value: Span,
    config: &OutputValidation,
) -> bool {
    let limits = Limits {
        max_bytes: usize::try_from(config.max_bytes).unwrap_or(usize::MAX),
        max_depth: config.max_depth,
    };
    let Some(content) = envelope.content() else {
        return false;
    };
    // The scan has seen that the whole message is UTF-8.
    let value = std::str::from_utf8(value.bytes(bytes)).unwrap_or_default();
    with_tape(value, &limits, |tape| {
        elements(bytes, content).any(|block| is_twin(bytes, block, tape, &limits))
    })
    .unwrap_or(false)
}

/// Whether a block is a text block that parses to the given value.
pub(crate) fn is_twin(bytes: &[u8], block: Span, value: &Tape<'_>, limits: &Limits) -> bool {
    let member = |name: &str| {
        members(bytes, block)
            .find(|(key, _)| key.string(bytes).is_some_and(|key| key == name))
            .and_then(|(_, value)| value.string(bytes))
    };
    if member("type").as_deref() != Some("text") {
        return false;
    }
    let Some(text) = member("text") else {
        return false;
    };
    // Prose is not worth a tape: the first character of equal values agrees, or both are numbers.
    let first = |text: &str| text.trim_ascii_start().bytes().next();
    let is_digit = |byte: Option<u8>| byte.is_some_and(|b| b == b'-' || b.is_ascii_digit());
    let (said, meant) = (first(&text), first(value.text()));
    if said != meant && !(is_digit(said) && is_digit(meant)) {
        return false;
    }
    Tape::parse(text.as_bytes(), limits).is_ok_and(|said| equal(&said, value))
}
