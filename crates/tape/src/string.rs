//! JSON strings: finding the end of one, decoding one, writing one.
//! Plain ones are read a block at a time, in line; the rest goes through wider blocks that stop only where something is
//! neither plain nor an escaped quote or line end. UTF-8 is not checked here: the whole input was before.

use std::borrow::Cow;

use crate::block::{BLOCK, first_unusual};
use crate::error::{ParseError, Reason};
use crate::grammar::Text;
use crate::kind::{ESCAPED, LONE_SURROGATE, NON_ASCII};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Bytes that are looked at in one step where escapes are expected.
const CALM: usize = 32;

/// Where a string ends and what was seen on the way.
struct Scanned {
    /// Offset of the closing quote.
    close: usize,
    /// As node flags.
    flags: u32,
}

/// What is behind a string's closing quote, and the flags of the string.
#[inline(always)]
#[expect(clippy::inline_always, reason = "asked for every string")]
pub(crate) fn end_of_string<'a>(
    text: Text<'a>,
    inside: &'a [u8],
) -> Result<(&'a [u8], u32), ParseError> {
    match plain_string(inside) {
        Ok(behind) => Ok((behind, 0)),
        Err(other) => {
            let string = scan_rest(text.bytes, text.offset(other))?;
            Ok((text.from(string.close + 1), string.flags))
        }
    }
}

/// The length of the string that begins here and what is behind its closing quote, if the string is plain ASCII and
/// ends in the first block.
#[inline(always)]
#[expect(clippy::inline_always, reason = "asked for every member name")]
pub(crate) fn short_string(inside: &[u8]) -> Option<(usize, &[u8])> {
    let length = first_unusual(inside.first_chunk()?)?;
    Some((length, behind_quote(inside, length)?))
}

/// What is behind the closing quote, if all before it is plain ASCII; else what is not that plain.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "many strings end within a block; a call costs as much as the scan"
)]
pub(crate) fn plain_string(inside: &[u8]) -> Result<&[u8], &[u8]> {
    let mut rest = inside;
    while let Some((block, tail)) = rest.split_first_chunk::<BLOCK>() {
        if let Some(length) = first_unusual(block) {
            return behind_quote(rest, length).ok_or(rest);
        }
        rest = tail;
    }
    Err(rest)
}

/// What is behind the quote at `at`, if there is one.
#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions")]
fn behind_quote(rest: &[u8], at: usize) -> Option<&[u8]> {
    match rest.get(at..) {
        Some([b'"', behind @ ..]) => Some(behind),
        _ => None,
    }
}

/// The rest of a string from `at` on, with nothing but plain ASCII before it: a long one, escapes, other alphabets, the
/// last bytes of the input, errors.
#[inline(never)]
fn scan_rest(bytes: &[u8], mut at: usize) -> Result<Scanned, ParseError> {
    let mut flags = 0;
    let mut blocks_from = at;
    loop {
        if at >= blocks_from {
            at = calm_blocks(bytes, at, &mut flags);
            blocks_from = at + CALM;
        }
        let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            return scan_last(bytes, at, flags);
        };
        let word = u64::from_le_bytes(*chunk);
        let hit = special(word);
        // The bytes up to the hit, or all of them.
        flags |= non_ascii(word & (hit ^ hit.wrapping_sub(1)));
        let place = hit.trailing_zeros();
        at += (place / 8) as usize;
        match word.checked_shr(place & !7).map(|shifted| shifted & 0xFF) {
            None => {}
            Some(0x22) => return Ok(Scanned { close: at, flags }),
            Some(0x5C) => at = escape(bytes, at, &mut flags)?,
            Some(_) => return Err(ParseError::new(at, Reason::Control)),
        }
    }
}

/// The same for fewer than eight bytes before the end of the input.
#[cold]
fn scan_last(bytes: &[u8], mut at: usize, mut flags: u32) -> Result<Scanned, ParseError> {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(Scanned { close: at, flags }),
            b'\\' => at = escape(bytes, at, &mut flags)?,
            0..0x20 => return Err(ParseError::new(at, Reason::Control)),
            _ => {
                flags |= non_ascii(u64::from(byte));
                at += 1;
            }
        }
    }
    Err(ParseError::new(bytes.len(), Reason::UnterminatedString))
}

/// Step over the escape at `at`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as for the loop around it")]
fn escape(bytes: &[u8], at: usize, flags: &mut u32) -> Result<usize, ParseError> {
    *flags |= ESCAPED;
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => unicode_escape(bytes, at, flags),
        _ => Err(ParseError::new(at, Reason::Escape)),
    }
}

/// The flag for a word, if any of its bytes is beyond ASCII.
#[inline]
const fn non_ascii(word: u64) -> u32 {
    if word & HIGH == 0 { 0 } else { NON_ASCII }
}

/// Step over whole blocks in which every quote is escaped and nothing is but quotes and line ends: prose, source text,
/// and JSON as text in JSON. Such a block is told from any other by looking at pairs of neighbours, all at once.
#[inline]
fn calm_blocks(bytes: &[u8], from: usize, flags: &mut u32) -> usize {
    let mut at = from;
    // Right after an escaped backslash, the byte before would be taken for the beginning of an escape.
    let Some(mut before) = from.checked_sub(1).and_then(|last| bytes.get(last..)) else {
        return from;
    };
    if before.first() == Some(&b'\\') {
        return from;
    }
    while let Some(window) = before.first_chunk::<{ CALM + 1 }>()
        && let (Some(previous), Some(block)) =
            (window.first_chunk::<CALM>(), window.last_chunk::<CALM>())
    {
        let (mut calm, mut escaped, mut high) = (true, false, false);
        // Without an early exit, so that the compiler uses vector instructions.
        for (&previous, &byte) in previous.iter().zip(block) {
            let opens = previous == b'\\';
            calm &= opens == (byte == b'"') || (opens && byte == b'n');
            calm &= byte >= b' ';
            escaped |= opens;
            high |= !byte.is_ascii();
        }
        if !calm {
            break;
        }
        *flags |= if escaped { ESCAPED } else { 0 } | if high { NON_ASCII } else { 0 };
        at += CALM;
        before = before.get(CALM..).unwrap_or_default();
    }
    // An escape that began in the last block is read from its beginning.
    if at > from && before.first() == Some(&b'\\') {
        at -= 1;
    }
    at
}

/// High bits of the bytes that mean something in a string. Only the lowest set bit is exact: a borrow can mark a byte
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
