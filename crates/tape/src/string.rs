//! JSON strings: finding the end of one, decoding one, writing one.
//! The scanner looks at eight bytes at a time and stops only at a quote, a backslash or a control
//! character. It does not check UTF-8: the whole input was checked before.

use std::borrow::Cow;

use crate::error::{ParseError, Reason};
use crate::grammar::Token;
use crate::node::{ESCAPED, LONE_SURROGATE, NON_ASCII};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Bytes of a string that are looked at in line; longer ones go to the vector loop.
const WINDOW: usize = 40;

/// Plain bytes after which more of them are expected.
const NEAR: usize = 16;

/// Where a string ends and what was seen on the way.
pub(crate) struct Scanned {
    /// Offset of the closing quote.
    pub(crate) close: usize,
    /// As node flags.
    pub(crate) flags: u32,
}

/// Scan a string whose opening quote is at `from - 1`.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "many strings, and most names, end within a word; a call costs as much as the scan"
)]
pub(crate) fn scan_string(bytes: &[u8], from: usize) -> Result<Scanned, ParseError> {
    let mut at = from;
    let mut seen = 0;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>())
        && at < from + WINDOW
    {
        let word = u64::from_le_bytes(*chunk);
        let hit = special(word);
        if hit == 0 {
            seen |= word;
            at += 8;
            continue;
        }
        let place = hit.trailing_zeros();
        if (word >> (place & !7)) & 0xFF == u64::from(b'"') {
            // The low bits up to the hit. The hit byte itself is harmless: it is ASCII.
            seen |= word & (hit ^ (hit - 1));
            let flags = if seen & HIGH == 0 { 0 } else { NON_ASCII };
            let close = at + (place / 8) as usize;
            return Ok(Scanned { close, flags });
        }
        break;
    }
    scan_rest(bytes, at, seen)
}

/// The rest of a string from `at` on: a long one, escapes, the last bytes of the input, errors.
#[inline(never)]
fn scan_rest(bytes: &[u8], mut at: usize, mut seen: u64) -> Result<Scanned, ParseError> {
    let mut flags = 0;
    loop {
        // Escapes come in crowds (JSON as text in JSON), so a word at a time until a few were plain.
        let near = at + NEAR;
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*chunk);
            let hit = special(word);
            if hit != 0 {
                seen |= word & (hit ^ (hit - 1));
                at += (hit.trailing_zeros() / 8) as usize;
                break;
            }
            seen |= word;
            at += 8;
            if at >= near {
                at = plain_blocks(bytes, at, &mut seen);
            }
        }
        match Token::at(bytes, at).byte {
            b'"' => {
                if seen & HIGH != 0 {
                    flags |= NON_ASCII;
                }
                return Ok(Scanned { close: at, flags });
            }
            b'\\' => {
                flags |= ESCAPED;
                at = match Token::at(bytes, at + 1).byte {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at + 2,
                    b'u' => unicode_escape(bytes, at, &mut flags)?,
                    _ => return Err(ParseError::new(at, Reason::Escape)),
                };
            }
            _ if at >= bytes.len() => {
                return Err(ParseError::new(bytes.len(), Reason::UnterminatedString));
            }
            0..0x20 => return Err(ParseError::new(at, Reason::Control)),
            // Fewer than eight bytes are left.
            byte => {
                seen |= u64::from(byte);
                at += 1;
            }
        }
    }
}

/// Step over whole blocks that hold no quote, backslash or control character.
#[inline]
fn plain_blocks(bytes: &[u8], from: usize, seen: &mut u64) -> usize {
    let mut at = from;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
        if any(block, |byte| byte ^ 0x02 < 0x21 || byte == b'\\') {
            break;
        }
        for chunk in block.as_chunks::<8>().0 {
            *seen |= u64::from_le_bytes(*chunk);
        }
        at += 32;
    }
    at
}

/// Whether any byte of a block passes a test. Without an early exit, so that the compiler uses vector
/// instructions.
#[inline]
fn any(block: &[u8; 32], test: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(false, |found, &byte| found | test(byte))
}

/// High bits of the bytes that end a plain run. Only the lowest set bit is exact: a borrow can mark a byte
/// above a true hit, never below one.
#[inline]
const fn special(word: u64) -> u64 {
    // Flipping bit 1 puts the quote at 0x20, next to the control characters, and nothing else below 0x21.
    let low = word ^ (ONES * 0x02);
    let backslash = word ^ (ONES * b'\\' as u64);
    let hits = (low.wrapping_sub(ONES * 0x21) & !low) | (backslash.wrapping_sub(ONES) & !backslash);
    hits & HIGH
}

/// Step over `\uXXXX` (and its partner) at `at`, noting a surrogate that has none.
fn unicode_escape(bytes: &[u8], at: usize, flags: &mut u32) -> Result<usize, ParseError> {
    let unit = code_unit(bytes, at).ok_or_else(|| ParseError::new(at, Reason::Escape))?;
    let after = at + 6;
    match unit {
        0xD800..=0xDBFF if matches!(code_unit(bytes, after), Some(0xDC00..=0xDFFF)) => {
            Ok(after + 6)
        }
        0xD800..=0xDFFF => {
            *flags |= LONE_SURROGATE;
            Ok(after)
        }
        _ => Ok(after),
    }
}

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
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        out.push_str(plain);
        let (used, character) = decode_escape(escape.as_bytes(), 0);
        out.push(character);
        rest = escape.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// Append `text` to `out` as the inside of a JSON string: only `"`, `\` and control characters are escaped.
pub fn escape_into(text: &str, out: &mut Vec<u8>) {
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                let digits = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(digits[usize::from(byte >> 4)]);
                out.push(digits[usize::from(byte & 15)]);
            }
            _ => out.push(byte),
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
    out.push(b'"');
    escape_into(text, &mut out);
    out.push(b'"');
    out
}
