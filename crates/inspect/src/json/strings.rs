//! The strings of a checked JSON text, keys included, without a tape: found by their quotes alone. Serves the stages
//! that look at every string and seldom find anything.

use countersign_tape::{Node, Span, Tape};

/// Every string of the value at `span`, with its quotes, in order.
pub(crate) fn strings(bytes: &[u8], span: Span) -> Strings<'_> {
    Strings {
        bytes,
        at: span.start as usize,
        end: span.end as usize,
    }
}

/// Iterator of [`strings`].
pub(crate) struct Strings<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl Iterator for Strings<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let start = self.at + memchr::memchr(b'"', self.bytes.get(self.at..self.end)?)?;
        let mut at = start + 1;
        loop {
            let found = at + memchr::memchr2(b'"', b'\\', self.bytes.get(at..self.end)?)?;
            if self.bytes.get(found) == Some(&b'"') {
                self.at = found + 1;
                let narrow = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
                return Some(Span::new(narrow(start), narrow(found + 1)));
            }
            at = found + 2;
        }
    }
}

/// What stands between the quotes of a string, undecoded.
pub(crate) fn string_content(text: &str, string: Span) -> &str {
    let range = string.range();
    text.get(range.start + 1..range.end.saturating_sub(1))
        .unwrap_or_default()
}

/// The RFC 6901 pointer of the value or name that begins at this offset of a tape's text.
pub(crate) fn pointer_at(tape: &Tape<'_>, offset: u32) -> Option<String> {
    let by_start = |node: &Node| node.start();
    let index = tape.nodes().binary_search_by_key(&offset, by_start).ok()?;
    Some(tape.pointer(u32::try_from(index).ok()?))
}

/// Whether a string is a member's name: a colon follows.
pub(crate) fn is_key(bytes: &[u8], string: Span) -> bool {
    let rest = bytes.get(string.end as usize..).unwrap_or_default();
    let space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    rest.iter().find(|byte| !space(byte)) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_is_found_and_keys_are_told_apart() {
        let text = r#"{"a":"b\"c\\","d" : ["","\u0022"], "e":1}"#;
        let bytes = text.as_bytes();
        let all: Vec<(&str, bool)> = strings(bytes, Span::whole(bytes))
            .map(|string| (string_content(text, string), is_key(bytes, string)))
            .collect();
        let expected = [
            ("a", true),
            (r#"b\"c\\"#, false),
            ("d", true),
            ("", false),
            (r"\u0022", false),
            ("e", true),
        ];
        assert_eq!(all, expected);
    }
}
