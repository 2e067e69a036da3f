//! Reading and changing single members of a message.

use bytes::Bytes;
use countersign_tape::{Edits, Kind, Span, elements, members};

pub(super) fn member(message: &[u8], object: Span, name: &str) -> Option<Span> {
    if object.kind(message) != Some(Kind::Object) {
        return None;
    }
    let is_it = |key: Span| key.is_text(message, name);
    let mut found = members(message, object).filter(|(key, _)| is_it(*key));
    found.next().map(|(_, value)| value)
}

pub(super) fn string(message: &[u8], span: Option<Span>) -> Option<String> {
    Some(span?.string(message)?.into_owned())
}

pub(super) fn replaced(message: &Bytes, span: Span, with: String) -> Bytes {
    let mut edits = Edits::new(message);
    edits.replace(span, with);
    // One edit cannot collide with another.
    edits
        .apply()
        .map_or_else(|_| message.clone(), |edited| edited.to_vec().into())
}

/// The messages of a batch. What is no object is no message; a batch in a batch would be a recursion that its sender
/// chooses the depth of.
pub(super) fn batch_messages(batch: &Bytes, root: Span) -> impl Iterator<Item = Bytes> {
    elements(batch, root)
        .filter(|element| element.kind(batch) == Some(Kind::Object))
        .map(|element| batch.slice_ref(element.bytes(batch)))
}

/// A JSON array of what is left of a batch.
pub(super) fn join(messages: impl Iterator<Item = Option<Bytes>>) -> Bytes {
    let messages: Vec<Bytes> = messages.flatten().collect();
    [&b"["[..], &messages.join(&b','), b"]"].concat().into()
}
