//! What a response is and which part of it is ours, from its headers and as few bytes as possible.

use bytes::Bytes;
use countersign_tape::Span;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

use crate::json::path;
use crate::upstream::head::{self, Head};

/// What a response says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Events,
    Other,
}

/// What the headers of a response say it is.
pub(super) fn form(headers: &HeaderMap) -> Form {
    let Some(value) = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes) else {
        return Form::Other;
    };
    let kind = value.split(|byte| *byte == b';').next().unwrap_or_default();
    let kind = kind.trim_ascii();
    if kind.eq_ignore_ascii_case(b"application/json") {
        Form::Json
    } else if kind.eq_ignore_ascii_case(b"text/event-stream") {
        Form::Events
    } else {
        Form::Other
    }
}

/// The message in a body that is ours: some servers wrap one into an array.
pub(super) fn own(whole: &Bytes, id: u64) -> Bytes {
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
pub(super) fn trimmed(message: &Bytes) -> Bytes {
    message.slice_ref(message.trim_ascii())
}

/// Which request a progress message is about: its token is the id we asked under.
pub(super) fn progress_id(message: &[u8]) -> Option<u64> {
    let token = path(message, Span::whole(message), &["params", "progressToken"])?;
    std::str::from_utf8(token.bytes(message)).ok()?.parse().ok()
}
