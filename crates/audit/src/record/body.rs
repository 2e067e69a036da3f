//! The canonical bytes of a record: what is stored, hashed and never written again.
//!
//! Version 1 is JSON with the version first and the fields in the order of the struct. A reader of a body checks the
//! version before anything else; an unknown one is refused, not guessed at.

mod write;

use thiserror::Error;

use super::Record;

pub(super) const VERSION_1: &[u8] = b"{\"v\":1";
/// Longer than most.
const LENGTH: usize = 768;

/// A stored body that this version cannot read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Not a version this program knows.
    #[error("the record's body has an unknown version")]
    Version,
    /// Not the JSON of a record.
    #[error("the record's body is not a record")]
    Json(#[from] serde_json::Error),
}

/// The canonical bytes of a record, ready to be hashed and stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body(Vec<u8>);

impl Body {
    /// Bounds the record and writes it.
    pub(crate) fn encode(record: &mut Record) -> Result<Self, serde_json::Error> {
        record.bound();
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend_from_slice(VERSION_1);
        write::members(record, &mut bytes)?;
        Ok(Self(bytes))
    }

    /// The bytes of a record as they were stored; nothing if they are none.
    pub(crate) fn from_stored(bytes: &[u8]) -> Option<Self> {
        decode(bytes).ok()?;
        Some(Self::copied_from(bytes))
    }

    /// A copy of the bytes of another one.
    pub(crate) fn copied_from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The record of stored bytes.
pub(crate) fn decode(bytes: &[u8]) -> Result<Record, DecodeError> {
    let rest = bytes.strip_prefix(VERSION_1);
    if !rest.is_some_and(|rest| rest.starts_with(b",")) {
        return Err(DecodeError::Version);
    }
    // Text that is known to be text is read faster than bytes whose every string must be looked at.
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(serde_json::from_str(text)?),
        Err(_) => Ok(serde_json::from_slice(bytes)?),
    }
}
