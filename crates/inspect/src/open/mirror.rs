//! Whether a result's text blocks repeat its structured content. This is not a finding: the gateway
//! uses it when it serves older clients, and the tester reports it.

use countersign_tape::{Envelope, Kind, Limits, Span, Tape, elements, members};

use crate::json::equal::equal;
use crate::json::scratch::with_tape;

/// How the text blocks of a result relate to its structured content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Whether the structured content is an object.
    pub is_object: bool,
    /// Whether there is a text block at all.
    pub has_text: bool,
    /// Whether a text block holds the same value, whatever its spelling.
    pub repeats: bool,
}

impl Mirror {
    /// Compares the text blocks with the structured content; `None` if there is none.
    pub(crate) fn compare(bytes: &[u8], envelope: &Envelope, limits: &Limits) -> Option<Self> {
        let value = envelope.structured_content()?;
        let is_text = |block| {
            members(bytes, block)
                .any(|(key, value)| key.is_text(bytes, "type") && value.is_text(bytes, "text"))
        };
        let is_list = |content: &Span| content.kind(bytes) == Some(Kind::Array);
        let content = envelope.content().filter(is_list);
        Some(Self {
            is_object: value.kind(bytes) == Some(Kind::Object),
            has_text: content.is_some_and(|list| elements(bytes, list).any(is_text)),
            repeats: content.is_some() && is_repeated_in_text(bytes, envelope, value, limits),
        })
    }
}

/// Whether some text block already holds this value, whatever its spelling.
pub(crate) fn is_repeated_in_text(
    bytes: &[u8],
    envelope: &Envelope,
    value: Span,
    limits: &Limits,
) -> bool {
    let Some(content) = envelope.content() else {
        return false;
    };
    // The scan has seen that the whole message is UTF-8.
    let value = std::str::from_utf8(value.bytes(bytes)).unwrap_or_default();
    with_tape(value, limits, |tape| {
        elements(bytes, content).any(|block| is_twin(bytes, block, tape, limits))
    })
    .unwrap_or(false)
}

/// Whether a block is a text block that parses to the given value.
pub(crate) fn is_twin(bytes: &[u8], block: Span, value: &Tape<'_>, limits: &Limits) -> bool {
    let member = |name: &str| {
        members(bytes, block)
            .find(|(key, _)| key.is_text(bytes, name))
            .and_then(|(_, value)| value.string(bytes))
    };
    if member("type").as_deref() != Some("text") {
        return false;
    }
    member("text").is_some_and(|text| repeats(&text, value, limits))
}

/// Whether a text parses to the given value.
pub(crate) fn repeats(text: &str, value: &Tape<'_>, limits: &Limits) -> bool {
    // Prose is not worth a tape: the first character of equal values agrees, or both are numbers.
    let first = |text: &str| text.trim_ascii_start().bytes().next();
    let is_digit = |byte: Option<u8>| byte.is_some_and(|b| b == b'-' || b.is_ascii_digit());
    let (text_start, value_start) = (first(text), first(value.text()));
    if text_start != value_start && !(is_digit(text_start) && is_digit(value_start)) {
        return false;
    }
    Tape::parse(text.as_bytes(), limits).is_ok_and(|parsed| equal(&parsed, value))
}

#[cfg(test)]
mod tests {
    use crate::{Contract, Policy, RawReply, Source, ToolName, examine};

    fn mirror(result: &'static str) -> Option<[bool; 3]> {
        let contract = Contract::undeclared(ToolName::new("t"));
        let raw = RawReply::new(result, Source::default());
        let mirror = examine(raw, &contract, &Policy::default()).mirror()?;
        Some([mirror.is_object, mirror.has_text, mirror.repeats])
    }

    #[test]
    fn text_is_compared_as_json() {
        for (result, expected) in [
            (r#"{"content":[]}"#, None),
            ("not json", None),
            (
                r#"{"content":[],"structuredContent":[1]}"#,
                Some([false, false, false]),
            ),
            (
                r#"{"content":"text","structuredContent":{}}"#,
                Some([true, false, false]),
            ),
            (
                r#"{"structuredContent":{"a":1}}"#,
                Some([true, false, false]),
            ),
            (
                r#"{"content":[{"type":"text","text":"one"}],"structuredContent":1}"#,
                Some([false, true, false]),
            ),
            (
                r#"{"content":[{"type":"image"},{"type":"text","text":"{\"a\": 1.0}"}],"structuredContent":{"a":1}}"#,
                Some([true, true, true]),
            ),
        ] {
            assert_eq!(mirror(result), expected, "{result}");
        }
    }
}
