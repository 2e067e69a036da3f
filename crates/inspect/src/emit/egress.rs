//! Converts a result for a client of the other protocol era. A legacy client rejects a whole result if its
//! `structuredContent` is not an object or accompanies an error, so the value moves into a text block, byte
//! for byte; it is never wrapped or cast. A client that negotiated nothing gets what the upstream sent.
//! This is the only edit that is made to a conforming result.

use countersign_tape::{
    Edits, Envelope, Kind, Member, MemberPosition, Span, elements, members, quote,
};

use crate::config::{Egress, OutputValidation};
use crate::era::{ClientEra, Era};
use crate::open::mirror::is_repeated_in_text;

/// What has to change in a result on its way to a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conversion {
    /// `structuredContent` goes, for a client that would reject the whole result over it.
    pub(crate) drops_structured: bool,
    drops_type: bool,
    adds_type: bool,
}

impl Conversion {
    /// Compares what the upstream sent with what the client can read.
    pub(crate) fn plan(
        bytes: &[u8],
        envelope: &Envelope,
        upstream: Era,
        client: ClientEra,
        config: &OutputValidation,
    ) -> Self {
        let is_object = |result: Span| result.kind(bytes) == Some(Kind::Object);
        if !envelope.result().is_some_and(is_object) {
            return Self::default();
        }
        let has_type = envelope.get(Member::ResultType).is_some();
        match (client, config.legacy_egress) {
            (ClientEra::Legacy, Egress::Convert) => Self {
                drops_structured: drops_structured(bytes, envelope),
                drops_type: upstream == Era::Modern && has_type,
                adds_type: false,
            },
            (ClientEra::Modern, _) => Self {
                adds_type: upstream == Era::Legacy && !has_type,
                ..Self::default()
            },
            _ => Self::default(),
        }
    }

    /// Whether the result can go as it is.
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// The edits that a conversion takes. `moved`: the text of the block that replaces the structured content.
pub(crate) fn conversion_edits<'a>(
    bytes: &'a [u8],
    envelope: &Envelope,
    conversion: Conversion,
    moved: Option<&str>,
) -> Edits<'a> {
    let mut edits = Edits::new(bytes);
    let Some(result) = envelope.result() else {
        return edits;
    };
    if conversion.drops_structured {
        remove(bytes, result, "structuredContent", &mut edits);
        if let Some(text) = moved {
            let block = text_block(text);
            append_block(bytes, result, envelope.content(), &block, &mut edits);
        }
    }
    if conversion.drops_type {
        remove(bytes, result, "resultType", &mut edits);
    }
    if conversion.adds_type {
        edits.insert_member(result, MemberPosition::First, "resultType", b"\"complete\"");
    }
    edits
}

/// Whether a legacy client is not given `structuredContent`.
fn drops_structured(bytes: &[u8], envelope: &Envelope) -> bool {
    let Some(value) = envelope.structured_content() else {
        return false;
    };
    envelope.is_error(bytes) == Some(true)
        || (value.kind(bytes) != Some(Kind::Object) && accepts_a_block(bytes, envelope))
}

/// Whether `content` is a list, or can become one.
fn accepts_a_block(bytes: &[u8], envelope: &Envelope) -> bool {
    let content = envelope.content();
    content.is_none_or(|content| content.kind(bytes) == Some(Kind::Array))
}

/// The value that becomes a text block for this client: one that is dropped and that no text block repeats yet.
pub(crate) fn value_to_move<'a>(
    bytes: &'a [u8],
    envelope: &Envelope,
    conversion: Conversion,
    config: &OutputValidation,
) -> Option<&'a str> {
    let value = envelope.structured_content()?;
    let is_moved = conversion.drops_structured
        && accepts_a_block(bytes, envelope)
        && !is_repeated_in_text(bytes, envelope, value, &config.value_limits());
    // The scan has seen that the whole message is UTF-8.
    is_moved.then(|| std::str::from_utf8(value.bytes(bytes)).unwrap_or_default())
}

fn remove(bytes: &[u8], object: Span, name: &str, edits: &mut Edits<'_>) {
    let mut keys = members(bytes, object).map(|(key, _)| key);
    if let Some(key) = keys.find(|key| key.is_text(bytes, name)) {
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
        edits.insert_member(result, MemberPosition::Last, "content", &list);
        return;
    };
    let end = content.end.saturating_sub(1);
    let is_empty = elements(bytes, content).next().is_none();
    let lead: &[u8] = if is_empty { b"" } else { b"," };
    edits.replace(Span::new(end, end), [lead, block].concat());
}

/// A text block; as a rule it holds a JSON value's exact bytes.
fn text_block(text: &str) -> Vec<u8> {
    [&br#"{"type":"text","text":"#[..], &quote(text), b"}"].concat()
}
