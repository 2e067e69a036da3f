//! The text of a JSON string: decoded, and written.

use std::borrow::Cow;

use fearless_simd::{Level, Simd, dispatch};

use crate::masks::{BLOCK_LENGTH, Block, Escapes, each_place};

/// The UTF-16 unit of a `\uXXXX` escape at `at`.
pub(crate) fn code_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = bytes.get(at..)?.first_chunk::<6>()? else {
        return None;
    };
    let mut unit = 0_u16;
    for &digit in digits {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            b'A'..=b'F' => digit - b'A' + 10,
            _ => return None,
        };
        unit = unit << 4 | u16::from(value);
    }
    Some(unit)
}

/// One step of decoding: how many raw bytes the next piece takes and which character it is, when it is an escape.
/// Malformed escapes cannot occur in validated text; one would stand for U+FFFD.
pub(crate) fn decode_escape(raw: &[u8], at: usize) -> (usize, char) {
    let simple = match raw.get(at + 1) {
        Some(b'u') => return decode_unicode(raw, at),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
        _ => char::REPLACEMENT_CHARACTER,
    };
    (2, simple)
}

fn decode_unicode(raw: &[u8], at: usize) -> (usize, char) {
    let Some(high) = code_unit(raw, at) else {
        return (2, char::REPLACEMENT_CHARACTER);
    };
    if (0xD800..0xDC00).contains(&high)
        && let Some(low @ 0xDC00..=0xDFFF) = code_unit(raw, at + 6)
    {
        let scalar = 0x1_0000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
        return (
            12,
            char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER),
        );
    }
    (
        6,
        char::from_u32(u32::from(high)).unwrap_or(char::REPLACEMENT_CHARACTER),
    )
}

/// Decode what stands between the quotes of a JSON string. Lone surrogates become U+FFFD.
///
/// ```
/// use countersign_tape::unescape;
/// assert_eq!(unescape("plain"), "plain");
/// assert_eq!(unescape(r"caf\u00e9 \ud83d\ude00 \ud800"), "café 😀 \u{fffd}");
/// ```
pub fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut decoded = String::with_capacity(raw.len());
    unescape_into(raw, &mut decoded);
    Cow::Owned(decoded)
}

/// Append what [`unescape`] gives to a buffer the caller reuses.
pub fn unescape_into(raw: &str, out: &mut String) {
    dispatch!(Level::new(), vectors => unescape_with(vectors, raw, out));
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "compiled for the vectors of its caller"
)]
fn unescape_with<S: Simd>(vectors: S, raw: &str, out: &mut String) {
    let mut escapes = Escapes::default();
    let mut done = 0;
    for (chunk, start) in raw
        .as_bytes()
        .chunks(BLOCK_LENGTH)
        .zip((0..).step_by(BLOCK_LENGTH))
    {
        let block = Block::padded(vectors, chunk, b' ');
        let backslashes = block.positions([b'\\']);
        let escaped = escapes.next(backslashes);
        for at in each_place(backslashes & !escaped).map(|place| start + place) {
            // The second half of a surrogate pair was decoded with the first.
            if at >= done {
                out.push_str(raw.get(done..at).unwrap_or_default());
                let (used, character) = decode_escape(raw.as_bytes(), at);
                out.push(character);
                done = at + used;
            }
        }
    }
    out.push_str(raw.get(done..).unwrap_or_default());
}

/// Append `text` to `out` as the inside of a JSON string: only `"`, `\` and control characters are escaped.
pub fn escape_into(text: &str, out: &mut Vec<u8>) {
    let is_escaped = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(is_escaped) {
        out.extend_from_slice(&rest[..at]);
        escape_byte(rest[at], out);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Append a byte that stands in a string only as an escape.
fn escape_byte(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => {
            let digits = b"0123456789abcdef";
            out.extend_from_slice(b"\\u00");
            out.push(digits[usize::from(byte >> 4)]);
            out.push(digits[usize::from(byte & 15)]);
        }
    }
}

/// `text` as a JSON string, quotes included.
///
/// ```
/// assert_eq!(countersign_tape::quote("a\"b\n"), br#""a\"b\n""#);
/// ```
pub fn quote(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    quote_into(text, &mut out);
    out
}

/// Append `text` to `out` as a JSON string, quotes included.
pub(crate) fn quote_into(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    escape_into(text, out);
    out.push(b'"');
}
