//! JSON strings: finding the end of one; decoding and writing one are in a module of their own.
//! Plain ones are read a block at a time, in line; the rest goes through wider blocks that stop only where something is
//! neither plain nor an escaped quote or line end, and through still wider ones, in which arithmetic on bits tells what is
//! escaped. UTF-8 is not checked here: the whole input was before.

use fearless_simd::{Level, Simd, dispatch};

use crate::block::{BLOCK, first_unusual};
use crate::error::{ParseError, Reason};
use crate::grammar::Text;
use crate::kind::{ESCAPED, LONE_SURROGATE, NON_ASCII};
use crate::masks::{BLOCK_LENGTH, Block, Escapes, each_place};

mod decode;

pub(crate) use decode::quote_into;
pub(crate) use decode::{code_unit, decode_escape};
pub use decode::{escape_into, quote, unescape, unescape_into};

/// Bytes that are looked at in one step where only quotes and line ends are escaped.
const CALM: usize = 32;

/// Where a string ends, and the flags of what it contains.
struct StringEnd {
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

/// The rest of a string from `from` on, with nothing but plain ASCII before it: a long one, escapes, other alphabets, the
/// last bytes of the input, errors.
#[inline(never)]
fn scan_rest(bytes: &[u8], from: usize) -> Result<StringEnd, ParseError> {
    dispatch!(Level::new(), vectors => scan_rest_with(vectors, bytes, from))
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "compiled for the vectors of its caller"
)]
fn scan_rest_with<S: Simd>(vectors: S, bytes: &[u8], from: usize) -> Result<StringEnd, ParseError> {
    let mut inside = StringScanner::default();
    let mut at = from;
    loop {
        if !inside.escapes.is_open() {
            at = calm_blocks(bytes, at, &mut inside.flags);
        }
        let rest = bytes.get(at..).unwrap_or_default();
        // What stands for the bytes behind the input is an error in a string.
        let block = Block::padded(vectors, rest, 0);
        match inside.read(bytes, at, block) {
            Some(0) => at += BLOCK_LENGTH,
            Some(close) => {
                let close = at + close.trailing_zeros() as usize;
                let flags = inside.flags;
                return Ok(StringEnd { close, flags });
            }
            None => return Err(first_error(bytes, from)),
        }
    }
}

/// Reads the inside of a string block by block.
#[derive(Default)]
struct StringScanner {
    escapes: Escapes,
    /// As node flags.
    flags: u32,
    /// Offset behind the last `\uXXXX` and its partner.
    units_end: usize,
}

impl StringScanner {
    /// Where the closing quote stands in the block at `at`, as a bit; 0 if it is not in this block, nothing if there is an
    /// error before it.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "compiled for the vectors of its caller"
    )]
    fn read<S: Simd>(&mut self, bytes: &[u8], at: usize, block: Block<S>) -> Option<u64> {
        let (quotes, backslashes) = (block.positions([b'"']), block.positions([b'\\']));
        let mut escaped = 0;
        if backslashes != 0 || self.escapes.is_open() {
            escaped = self.escapes.next(backslashes);
        }
        let close = quotes & !escaped;
        // All bits below the lowest one of `close`.
        let inside = close.wrapping_sub(1) & !close;
        let unprintable = block.unprintable() & inside;
        if unprintable != 0 {
            self.flags |= NON_ASCII;
            if unprintable & !block.beyond_ascii() != 0 {
                return None;
            }
        }
        escaped &= inside;
        if escaped != 0 {
            self.flags |= ESCAPED;
            let others = escaped & !(quotes | backslashes);
            if others != 0 {
                self.check(bytes, at, others & !block.positions([b'n']))?;
            }
        }
        Some(close)
    }

    /// Check the escapes of other characters than quotes, backslashes and line feeds; nothing if one is wrong.
    #[inline]
    fn check(&mut self, bytes: &[u8], at: usize, escaped: u64) -> Option<()> {
        for place in each_place(escaped) {
            let offset = at + place;
            match bytes.get(offset)? {
                b'/' | b'b' | b'f' | b'r' | b't' => {}
                b'u' if offset < self.units_end => {}
                b'u' => {
                    self.units_end = unicode_escape(bytes, offset - 1, &mut self.flags).ok()?;
                }
                _ => return None,
            }
        }
        Some(())
    }
}

/// Step over whole blocks in which every quote is escaped and nothing is but quotes and line ends: prose, source text,
/// and JSON as text in JSON. Such a block is told from any other by looking at pairs of neighbours, all at once.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "compiled for the vectors of its caller"
)]
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

/// What is wrong first with the string whose rest begins at `at`.
#[cold]
fn first_error(bytes: &[u8], mut at: usize) -> ParseError {
    let mut flags = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => match escape(bytes, at, &mut flags) {
                Ok(behind) => at = behind,
                Err(error) => return error,
            },
            0..0x20 => return ParseError::new(at, Reason::Control),
            _ => at += 1,
        }
    }
    ParseError::new(bytes.len(), Reason::UnterminatedString)
}

/// Step over the escape at `at`.
fn escape(bytes: &[u8], at: usize, flags: &mut u32) -> Result<usize, ParseError> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => unicode_escape(bytes, at, flags),
        _ => Err(ParseError::new(at, Reason::Escape)),
    }
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

#[cfg(test)]
mod tests;
