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

/// A byte and where it stands. Past the end there are zeros, which begin nothing in JSON.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub(crate) at: usize,
    pub(crate) byte: u8,
}

impl Token {
    /// The byte at `at`.
    #[inline]
    pub(crate) fn at(bytes: &[u8], at: usize) -> Self {
        let byte = bytes.get(at).copied().unwrap_or(0);
        Self { at, byte }
    }

    /// The first byte at or after `at` that is not whitespace. Most JSON on a wire has none, so that is the quick way.
    #[inline]
    pub(crate) fn after(bytes: &[u8], at: usize) -> Self {
        let token = Self::at(bytes, at);
        if token.byte > b' ' {
            return token;
        }
        Self::after_space(bytes, at)
    }

    #[inline(never)]
    fn after_space(bytes: &[u8], at: usize) -> Self {
        Self::at(bytes, skip_space(bytes, at))
    }
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
