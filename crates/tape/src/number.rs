//! The JSON number grammar. Numbers stay text: nothing here computes a value.

use crate::error::{ParseError, Reason};

/// Where a number ends and whether it was written without fraction and exponent.
pub(crate) struct Scanned {
    pub(crate) end: usize,
    pub(crate) integer: bool,
}

/// Scan a number whose first byte is a digit or a minus sign.
#[inline]
pub(crate) fn scan_number(bytes: &[u8], start: usize) -> Result<Scanned, ParseError> {
    let first = if bytes.get(start) == Some(&b'-') {
        start + 1
    } else {
        start
    };
    let end = match bytes.get(first) {
        Some(b'0') => first + 1,
        Some(b'1'..=b'9') => digits(bytes, first + 1),
        _ => return Err(ParseError::new(first, Reason::Number)),
    };
    match bytes.get(end) {
        Some(b'.' | b'e' | b'E') => scan_tail(bytes, end),
        _ => Ok(Scanned { end, integer: true }),
    }
}

#[inline]
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

#[inline]
fn digits(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

#[inline]
fn some_digits(bytes: &[u8], at: usize) -> Result<usize, ParseError> {
    let end = digits(bytes, at);
    if end == at {
        Err(ParseError::new(at, Reason::Number))
    } else {
        Ok(end)
    }
}
