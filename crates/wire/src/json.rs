//! Reads single members of JSON objects without parsing the rest.

use countersign_tape::{Span, members};

/// The value of the first member with this name in the object at `object`.
pub fn member(bytes: &[u8], object: Span, name: &str) -> Option<Span> {
    members(bytes, object)
        .find(|(key, _)| key.is_text(bytes, name))
        .map(|(_, value)| value)
}

/// The value at a path of member names.
pub fn path(bytes: &[u8], object: Span, names: &[&str]) -> Option<Span> {
    names
        .iter()
        .try_fold(object, |object, name| member(bytes, object, name))
}
