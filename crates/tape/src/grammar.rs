//! The small tokens of JSON that the tape and the scanner share: whitespace, literals, and the check that
//! opens every reading: size first, then UTF-8, once, over the whole input.

use crate::error::{ParseError, Reason};

/// An offset or index into an input that [`admit`] let in.
#[expect(
    clippy::cast_possible_truncation,
    reason = "inputs are shorter than 4 GiB"
)]
#[inline]
pub(crate) const fn narrow(offset: usize) -> u32 {
    offset as u32
}

/// The input as text, if it is small enough and UTF-8.
pub(crate) fn admit(bytes: &[u8], max_bytes: usize) -> Result<&str, ParseError> {
    check_size(bytes.len(), max_bytes)?;
    std::str::from_utf8(bytes)
        .map_err(|error| ParseError::new(error.valid_up_to(), Reason::NotUtf8))
}

/// Refuse an input of more than `max_bytes`.
pub(crate) fn check_size(length: usize, max_bytes: usize) -> Result<(), ParseError> {
    if length > max_bytes {
        return Err(ParseError::new(max_bytes, Reason::TooLarge));
    }
    Ok(())
}

/// The first offset at or after `at` that is not JSON whitespace.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Step over `word` at `at`.
#[inline]
pub(crate) fn literal<const N: usize>(
    bytes: &[u8],
    at: usize,
    word: &[u8; N],
) -> Result<usize, ParseError> {
    if bytes.get(at..).and_then(|rest| rest.first_chunk::<N>()) == Some(word) {
        Ok(at + N)
    } else {
        Err(ParseError::new(at, Reason::Value))
    }
}
