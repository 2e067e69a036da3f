//! Finds the message with our id in a response, from as few bytes as possible.

use bytes::Bytes;

use countersign_wire::head::{self, Head};

/// The message in a body that has this id: some servers put a single answer into an array.
pub(crate) fn message_with_id(whole: &Bytes, id: u64) -> Bytes {
    if let Head::Batch(parts) = head::read(whole) {
        for part in parts {
            let part = whole.slice_ref(part.bytes(whole));
            if matches!(head::read(&part), Head::Answer(found) if found == id) {
                return part;
            }
        }
    }
    trimmed(whole)
}

/// The message without the white space around it.
pub(crate) fn trimmed(message: &Bytes) -> Bytes {
    message.slice_ref(message.trim_ascii())
}
