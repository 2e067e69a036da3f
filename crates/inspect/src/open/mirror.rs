//! How a result's text blocks stand to its structured content. Not a finding: the gateway acts on
//! it when it serves older clients, and the tester reports it.

use countersign_tape::{Kind, elements, members};

use crate::emit::egress::said_in_text;
use crate::examine::Examined;

/// What the text blocks of a result with structured content say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Whether the structured content is an object.
    pub of_object: bool,
    /// Whether there is a text block at all.
    pub has_text: bool,
    /// Whether a text block holds the same value, whatever its spelling.
    pub repeats: bool,
}

impl Examined {
    /// How the text blocks stand to the structured content; `None` if there is none.
    pub fn mirror(&self) -> Option<Mirror> {
        let envelope = self.envelope()?;
        let value = envelope.structured_content()?;
        let is_text = |block| {
            members(&self.bytes, block).any(|(key, value)| {
                key.string(&self.bytes).as_deref() == Some("type")
                    && value.string(&self.bytes).as_deref() == Some("text")
            })
        };
        let is_list =
            |content: &countersign_tape::Span| content.kind(&self.bytes) == Some(Kind::Array);
        let content = envelope.content().filter(is_list);
        Some(Mirror {
            of_object: value.kind(&self.bytes) == Some(Kind::Object),
            has_text: content.is_some_and(|list| elements(&self.bytes, list).any(is_text)),
            repeats: content.is_some()
                && said_in_text(&self.bytes, envelope, value, &self.policy.output),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Contract, Policy, RawReply, Source, ToolName, examine};

    fn mirror(result: &'static str) -> Option<[bool; 3]> {
        let contract = Contract::undeclared(ToolName::new("t"));
        let raw = RawReply::new(result, Source::default());
        let mirror = examine(raw, &contract, &Policy::default()).mirror()?;
        Some([mirror.of_object, mirror.has_text, mirror.repeats])
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
