//! Reading a member here and there out of checked JSON, without building anything.

use countersign_tape::{Span, members};

/// The value of a member of the object at `object`; of the first of that name.
pub(crate) fn member(bytes: &[u8], object: Span, name: &str) -> Option<Span> {
    members(bytes, object)
        .find(|(key, _)| key.string(bytes).is_some_and(|key| key == name))
        .map(|(_, value)| value)
}
