//! The JSON number grammar. Numbers stay text: nothing here computes a value.
#![expect(
    clippy::inline_always,
    reason = "most numbers are a few digits; a call costs as much as the scan"
)]

use crate::error::{ParseError, Reason};
use crate::grammar::Token;

/// Where a number ends and whether it was written without fraction and exponent.
pub(crate) struct Scanned {
    pub(crate) end: usize,
    pub(crate) integer: bool,
}

/// Scan a number whose first byte is a digit or a minus sign.
#[inline(always)]
pub(crate) fn scan_number(bytes: &[u8], mut first: Token) -> Result<Scanned, ParseError> {
    if first.byte == b'-' {
        first = Token::at(bytes, first.at + 1);
    }
    let end = match first.byte {
        b'0' => Token::at(bytes, first.at + 1),
        b'1'..=b'9' => digits(bytes, first.at + 1),
        _ => return Err(ParseError::new(first.at, Reason::Number)),
    };
    if matches!(end.byte, b'.' | b'e' | b'E') {
        return scan_tail(bytes, end.at);
    }
    Ok(Scanned {
        end: end.at,
        integer: true,
    })
}

#[inline(never)]
fn scan_tail(bytes: &[u8], mut at: usize) -> Result<Scanned, ParseError> {
    if bytes.get(at) == Some(&b'.') {
        at = some_digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = some_digits(bytes, at)?;
    }
    Ok(Scanned {
        end: at,
        integer: false,
    })
}

/// The first byte at or after `at` that is no digit.
#[inline]
fn digits(bytes: &[u8], at: usize) -> Token {
    let mut token = Token::at(bytes, at);
    while token.byte.is_ascii_digit() {
        token = Token::at(bytes, token.at + 1);
    }
    token
}

#[inline]
fn some_digits(bytes: &[u8], at: usize) -> Result<usize, ParseError> {
    let end = digits(bytes, at).at;
    if end == at {
        Err(ParseError::new(at, Reason::Number))
    } else {
        Ok(end)
    }
}
