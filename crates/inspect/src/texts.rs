//! The texts of a result that a model would read and a classifier should: text blocks, embedded
//! text resources, the words of resource links, and the strings of the structured content. A
//! result without an injection surface has none.

use std::borrow::Cow;

use countersign_tape::{Envelope, Kind, Limits, Span, Tape, elements, members};

use crate::clean::Cleaning;
use crate::config::OutputValidation;
use crate::egress::is_twin;

/// One text and where it stands in the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// RFC 6901 pointer into the result.
    pub pointer: String,
    /// The text, decoded.
    pub text: Cow<'a, str>,
}

/// Collects the texts. `narrow`: the structured content conforms to a schema that admits no
/// free text, so it has nothing to screen, and neither has a text block that only repeats it.
pub(crate) fn collect<'a>(
    bytes: &'a [u8],
    envelope: &Envelope,
    config: &OutputValidation,
    narrow: bool,
    cleaning: Option<&'a Cleaning>,
) -> Vec<Text<'a>> {
    let limits = Limits {
        max_bytes: usize::try_from(config.max_bytes).unwrap_or(usize::MAX),
        max_depth: config.max_depth,
    };
    let structured = envelope.structured_content().and_then(|value| {
        let cleaned = cleaning.and_then(|cleaning| cleaning.structured.as_deref());
        Tape::parse(cleaned.unwrap_or_else(|| value.bytes(bytes)), &limits).ok()
    });
    let mut texts = Vec::new();
    let content = envelope.content().into_iter();
    for (index, block) in content
        .flat_map(|content| elements(bytes, content))
        .enumerate()
    {
        let twin = |tape| is_twin(bytes, block, tape, &limits);
        if narrow && structured.as_ref().is_some_and(twin) {
            continue;
        }
        let pointer = format!("/content/{index}");
        from_block(bytes, block, &pointer, cleaning, &mut texts);
    }
    if let Some(tape) = structured.filter(|_| !narrow) {
        from_value(&tape, &mut texts);
    }
    texts
}

/// The string members of a block and of the resource inside it, whatever its type: an unknown
/// type is no reason to look away.
fn from_block<'a>(
    bytes: &'a [u8],
    block: Span,
    pointer: &str,
    cleaning: Option<&'a Cleaning>,
    texts: &mut Vec<Text<'a>>,
) {
    for (key, value) in members(bytes, block) {
        let Some(name) = key.string(bytes) else {
            continue;
        };
        match (name.as_ref(), value.kind(bytes)) {
            ("resource", Some(Kind::Object)) => {
                let pointer = format!("{pointer}/resource");
                from_block(bytes, value, &pointer, cleaning, texts);
            }
            ("text" | "name" | "title" | "description", Some(Kind::String)) => {
                let cleaned = cleaning.and_then(|cleaning| cleaning.text_at(value));
                let cleaned = cleaned.map(Cow::Borrowed);
                let text = cleaned.or_else(|| value.string(bytes)).unwrap_or_default();
                let pointer = format!("{pointer}/{name}");
                texts.push(Text { pointer, text });
            }
            _ => {}
        }
    }
}

fn from_value<'a>(tape: &Tape<'a>, texts: &mut Vec<Text<'a>>) {
    let strings = (0..tape.len()).filter(|node| tape.node(*node).kind() == Kind::String);
    texts.extend(strings.map(|node| Text {
        pointer: format!("/structuredContent{}", tape.pointer(node)),
        text: tape.string(node),
    }));
}

#[cfg(test)]
mod tests;
