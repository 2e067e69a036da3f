//! The JSON number grammar. Numbers stay text: nothing here computes a value.
#![expect(
    clippy::inline_always,
    reason = "most numbers are a few digits; a call costs as much as the scan"
)]

use crate::error::{ParseError, Reason};
use crate::grammar::Text;

/// The text behind a number, and whether the number was written without fraction and exponent.
pub(crate) struct ScannedNumber<'a> {
    pub(crate) behind: &'a [u8],
    pub(crate) integer: bool,
}

/// Scan a number whose first byte is a digit or a minus sign.
#[inline(always)]
pub(crate) fn scan_number<'a>(
    text: Text<'a>,
    rest: &'a [u8],
) -> Result<ScannedNumber<'a>, ParseError> {
    let unsigned = match rest {
        [b'-', unsigned @ ..] => unsigned,
        _ => rest,
    };
    let behind = match unsigned {
        [b'0', behind @ ..] => behind,
        [b'1'..=b'9', more @ ..] => digits(more),
        _ => return Err(text.error(unsigned, Reason::Number)),
    };
    if let [b'.' | b'e' | b'E', ..] = behind {
        return scan_tail(text, behind);
    }
    Ok(ScannedNumber {
        behind,
        integer: true,
    })
}

#[inline(never)]
fn scan_tail<'a>(text: Text<'a>, mut rest: &'a [u8]) -> Result<ScannedNumber<'a>, ParseError> {
    if let [b'.', fraction @ ..] = rest {
        rest = some_digits(text, fraction)?;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        rest = match exponent {
            [b'+' | b'-', unsigned @ ..] => some_digits(text, unsigned)?,
            _ => some_digits(text, exponent)?,
        };
    }
    Ok(ScannedNumber {
        behind: rest,
        integer: false,
    })
}

/// What is left from the first byte on that is no digit.
#[inline]
fn digits(mut rest: &[u8]) -> &[u8] {
    while let [b'0'..=b'9', more @ ..] = rest {
        rest = more;
    }
    rest
}

#[inline]
fn some_digits<'a>(text: Text<'a>, rest: &'a [u8]) -> Result<&'a [u8], ParseError> {
    let behind = digits(rest);
    if behind.len() == rest.len() {
        Err(text.error(rest, Reason::Number))
    } else {
        Ok(behind)
    }
}
