//! The texts that a classifier is given. Of a result: text blocks, embedded text resources, names and descriptions of
//! resource links, the strings and unusual member names of the structured content, messages of prompts, contents of
//! resources, completions, questions to the client, and the texts of an error. Of a request of a server: all its strings.
//! A result that cannot carry free text has none.

use std::borrow::Cow;

use countersign_tape::{Envelope, Kind, Limits, Span, Tape, elements, members};

use crate::clean::Cleaning;
use crate::clean::note::Note;
use crate::config::OutputValidation;
use crate::json::strings::{is_key, pointer_at, strings};
use crate::open::mirror::is_twin;
use crate::text::{is_plain_name, pointer_for_record};

/// Pointers are made of names that the upstream chose. In a value longer than this, a string is located by its channel
/// alone, or a long name before many strings would cost the product of both.
const EXACT: usize = 16 * 1024;
/// A longer string of base64 is data.
const DATA: usize = 256;

/// One text and where it stands in the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// RFC 6901 pointer into the result; in a large `structuredContent`, of the whole of it.
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
    let limits = config.value_limits();
    let structured = envelope.structured_content().map(|value| {
        let cleaned = cleaning.and_then(|cleaning| cleaning.structured.as_deref());
        cleaned.unwrap_or_else(|| value.bytes(bytes))
    });
    let conforming = structured.filter(|_| narrow);
    let conforming = conforming.and_then(|value| Tape::parse(value, &limits).ok());
    let mut texts = Vec::new();
    let content = envelope.content().into_iter();
    for (index, block) in content
        .flat_map(|content| elements(bytes, content))
        .enumerate()
    {
        let twin = |tape| is_twin(bytes, block, tape, &limits);
        if conforming.as_ref().is_some_and(twin) {
            continue;
        }
        let pointer = format!("/content/{index}");
        from_block(bytes, block, &pointer, cleaning, &mut texts);
    }
    if let Some(value) = structured.filter(|_| !narrow) {
        from_value(value, &mut texts);
    }
    if let Some(result) = envelope.result() {
        from_other_results(bytes, result, cleaning, &mut texts);
    }
    if let Some(error) = envelope.error() {
        from_strings(bytes, error, "/error", cleaning, &mut texts);
    }
    texts
}

/// What results of other methods than `tools/call` say.
fn from_other_results<'a>(
    bytes: &'a [u8],
    result: Span,
    cleaning: Option<&'a Cleaning>,
    texts: &mut Vec<Text<'a>>,
) {
    for (key, value) in members(bytes, result) {
        match key.string(bytes).as_deref() {
            Some("contents") => {
                for (index, resource) in elements_of(bytes, value).enumerate() {
                    let pointer = format!("/contents/{index}");
                    from_block(bytes, resource, &pointer, cleaning, texts);
                }
            }
            Some("messages") => {
                for (index, message) in elements_of(bytes, value).enumerate() {
                    let pointer = format!("/messages/{index}");
                    from_strings(bytes, message, &pointer, cleaning, texts);
                }
            }
            Some(name @ ("description" | "completion" | "inputRequests")) => {
                let pointer = format!("/{name}");
                from_strings(bytes, value, &pointer, cleaning, texts);
            }
            _ => {}
        }
    }
}

/// The elements of an array; none of anything else.
fn elements_of(bytes: &[u8], value: Span) -> impl Iterator<Item = Span> {
    let array = Some(value).filter(|value| value.kind(bytes) == Some(Kind::Array));
    array
        .into_iter()
        .flat_map(move |array| elements(bytes, array))
}

/// Every string of a value that could carry a message, located by the value as a whole. Long strings without a space are
/// data: pictures and sounds in a message.
fn from_strings<'a>(
    bytes: &'a [u8],
    value: Span,
    pointer: &str,
    cleaning: Option<&'a Cleaning>,
    texts: &mut Vec<Text<'a>>,
) {
    for string in strings(bytes, value) {
        let cleaned = cleaning.and_then(|cleaning| cleaning.text_at(string));
        let cleaned = cleaned.map(Cow::Borrowed);
        let text = cleaned.or_else(|| string.string(bytes)).unwrap_or_default();
        let is_word = is_plain_name(&text) && (is_key(bytes, string) || is_type_word(&text));
        if is_word || is_data(&text) {
            continue;
        }
        let pointer = pointer.to_owned();
        texts.push(Text { pointer, text });
    }
}

/// Words of the protocol that stand in every message.
fn is_type_word(text: &str) -> bool {
    matches!(text, "text" | "user" | "assistant" | "object" | "string")
}

/// Whether a string is base64 and not prose.
fn is_data(text: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    text.len() > DATA && text.bytes().all(is_base64)
}

impl Note {
    /// The texts that a classifier should see of a message that a server sends of its own accord: all its strings but
    /// those of `_meta`.
    pub fn texts(&self) -> Vec<Text<'_>> {
        let bytes = &self.bytes()[..];
        let mut texts = Vec::new();
        let whole = members(bytes, Span::whole(bytes));
        let is_params = |key: Span| key.is_text(bytes, "params");
        for (_, params) in whole.filter(|(key, _)| is_params(*key)) {
            for (key, value) in members(bytes, params) {
                let name = key.string(bytes).unwrap_or_default();
                if name == "_meta" {
                    continue;
                }
                let pointer = pointer_for_record(&format!("/params/{name}"));
                from_strings(bytes, value, &pointer, None, &mut texts);
            }
        }
        texts
    }
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
        if name == "resource" && value.kind(bytes) == Some(Kind::Object) {
            let pointer = format!("{pointer}/resource");
            // One level, as MCP has it: how deep a block nests is for its author to say, and not for our stack.
            for (key, value) in members(bytes, value) {
                if let Some(name) = key.string(bytes) {
                    from_member(bytes, &name, value, &pointer, cleaning, texts);
                }
            }
        }
        from_member(bytes, &name, value, pointer, cleaning, texts);
    }
}

fn from_member<'a>(
    bytes: &'a [u8],
    name: &str,
    value: Span,
    pointer: &str,
    cleaning: Option<&'a Cleaning>,
    texts: &mut Vec<Text<'a>>,
) {
    let spoken = matches!(name, "text" | "name" | "title" | "description");
    if !spoken || value.kind(bytes) != Some(Kind::String) {
        return;
    }
    let cleaned = cleaning.and_then(|cleaning| cleaning.text_at(value));
    let cleaned = cleaned.map(Cow::Borrowed);
    let text = cleaned.or_else(|| value.string(bytes)).unwrap_or_default();
    let pointer = format!("{pointer}/{name}");
    texts.push(Text { pointer, text });
}

/// Every string of a value, whatever its size and depth, and every member's name that could carry a message.
fn from_value<'a>(value: &'a [u8], texts: &mut Vec<Text<'a>>) {
    let tape = (value.len() <= EXACT).then(|| Tape::parse(value, &Limits::LIFTED).ok());
    let tape = tape.flatten();
    for string in strings(value, Span::whole(value)) {
        let Some(text) = string.string(value) else {
            continue;
        };
        if is_key(value, string) && is_plain_name(&text) {
            continue;
        }
        let inside = tape
            .as_ref()
            .and_then(|tape| pointer_at(tape, string.start));
        let inside = pointer_for_record(&inside.unwrap_or_default());
        let pointer = format!("/structuredContent{inside}");
        texts.push(Text { pointer, text });
    }
}

#[cfg(test)]
mod tests;
