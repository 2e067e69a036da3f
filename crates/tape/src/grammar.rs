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

/// A text that is read, to tell where a rest of it begins.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) bytes: &'a [u8],
}

impl<'a> Text<'a> {
    #[inline]
    pub(crate) fn offset(self, rest: &[u8]) -> usize {
        self.bytes.len() - rest.len()
    }

    #[inline]
    pub(crate) fn from(self, offset: usize) -> &'a [u8] {
        self.bytes.get(offset..).unwrap_or_default()
    }

    #[cold]
    pub(crate) fn error(self, rest: &[u8], reason: Reason) -> ParseError {
        ParseError::new(self.offset(rest), reason)
    }
}

/// The first offset at or after `at` that is not JSON whitespace.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// What is left from the first byte on that is not whitespace. Most JSON on a wire has none, so that is the quick way.
#[inline]
pub(crate) fn trim(rest: &[u8]) -> &[u8] {
    match rest {
        [byte, ..] if *byte > b' ' => rest,
        _ => trim_space(rest),
    }
}

#[inline(never)]
fn trim_space(rest: &[u8]) -> &[u8] {
    rest.get(skip_space(rest, 0)..).unwrap_or_default()
}

/// Step over `word`.
#[inline]
pub(crate) fn literal<'a, const N: usize>(
    text: Text<'a>,
    rest: &'a [u8],
    word: &[u8; N],
) -> Result<&'a [u8], ParseError> {
    match rest.split_first_chunk::<N>() {
        Some((first, behind)) if first == word => Ok(behind),
        _ => Err(text.error(rest, Reason::Value)),
    }
}
