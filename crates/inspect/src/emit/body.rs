//! The bytes of an answer. The upstream's bytes are shared and sliced, never copied or re-serialised; the
//! gateway's own bytes are inserted between the slices.

use bytes::Bytes;
use countersign_tape::{EditedText, Envelope, Segment, Span};

use crate::emit::segments::Segments;

/// What leaves.
pub(crate) enum Body {
    /// The upstream's text in pieces; no pieces means as it came.
    Forwarded(Vec<Piece>),
    /// A result object of our own.
    Authored(Bytes),
}

/// A run of the upstream's bytes, or of the gateway's own.
pub(crate) enum Piece {
    Received(Span),
    Inserted(Bytes),
}

impl Piece {
    /// The pieces of an edited text.
    pub(crate) fn from_edited(original: &[u8], edited: EditedText<'_>) -> Vec<Self> {
        let base = original.as_ptr().addr();
        let narrow = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        let piece = |segment| match segment {
            Segment::Borrowed(run) => {
                let start = run.as_ptr().addr().saturating_sub(base);
                Self::Received(Span::new(narrow(start), narrow(start + run.len())))
            }
            Segment::Owned(run) => Self::Inserted(run.into()),
        };
        edited.into_segments().into_iter().map(piece).collect()
    }
}

/// What arrived, and where its parts are. Kept for digests and splices; a blocked result is
/// never read out of it.
#[derive(Default)]
pub(crate) struct Original {
    pub(crate) bytes: Bytes,
    root: Option<Span>,
    pub(crate) result: Option<Span>,
    pub(crate) structured: Option<Span>,
    /// Set if the bytes are a whole response.
    pub(crate) id: Option<Span>,
    /// A JSON-RPC error, or a result that says `isError`.
    pub(crate) is_error: bool,
}

impl Original {
    pub(crate) fn new(bytes: Bytes, envelope: Option<&Envelope>) -> Self {
        let failed = |envelope: &Envelope| {
            envelope.error().is_some() || envelope.is_error(&bytes) == Some(true)
        };
        Self {
            is_error: envelope.is_some_and(failed),
            bytes,
            root: envelope.map(Envelope::root),
            result: envelope.and_then(Envelope::result),
            structured: envelope.and_then(Envelope::structured_content),
            id: envelope.and_then(Envelope::id),
        }
    }

    /// Everything that arrived, the white space around it included.
    pub(crate) fn all(&self) -> Span {
        Span::new(0, u32::try_from(self.bytes.len()).unwrap_or(u32::MAX))
    }

    /// The message without the white space around it.
    pub(crate) fn root(&self) -> Span {
        self.root.unwrap_or(Span::new(0, 0))
    }

    pub(crate) fn structured(&self) -> Option<&[u8]> {
        self.structured.map(|span| span.bytes(&self.bytes))
    }

    /// The part of the text inside `window`, edited, with the id replaced if one is given.
    pub(crate) fn forward(&self, pieces: &[Piece], window: Span, id: Option<&Bytes>) -> Segments {
        let mut segments = Segments::default();
        if pieces.is_empty() {
            self.push(window, id, &mut segments);
        }
        for piece in pieces {
            match piece {
                Piece::Inserted(bytes) => segments.push(bytes.clone()),
                Piece::Received(span) => {
                    let start = span.start.max(window.start);
                    let end = span.end.min(window.end).max(start);
                    self.push(Span::new(start, end), id, &mut segments);
                }
            }
        }
        segments
    }

    fn push(&self, span: Span, id: Option<&Bytes>, segments: &mut Segments) {
        let slice = |start: u32, end: u32| {
            let end = self.bytes.len().min(end as usize);
            self.bytes.slice(end.min(start as usize)..end)
        };
        match (self.id, id) {
            (Some(old), Some(new)) if span.start <= old.start && old.end <= span.end => {
                segments.push(slice(span.start, old.start));
                segments.push(new.clone());
                segments.push(slice(old.end, span.end));
            }
            _ => segments.push(slice(span.start, span.end)),
        }
    }
}

/// A result, the upstream's or the gateway's own, in a response that the gateway writes.
pub(crate) fn respond(id: &Bytes, result: Segments) -> Segments {
    let mut segments = Segments::default();
    segments.push_static(r#"{"jsonrpc":"2.0","id":"#);
    segments.push(id.clone());
    segments.push_static(r#","result":"#);
    segments.append(result);
    segments.push_static("}");
    segments
}

#[cfg(test)]
mod tests {
    use countersign_tape::{ScanLimits, scan};

    use super::*;

    #[test]
    fn an_upstreams_failure_is_known_in_both_forms() {
        let failed = |text: &'static str| {
            let envelope = scan(text.as_bytes(), &ScanLimits::default()).unwrap();
            Original::new(Bytes::from_static(text.as_bytes()), Some(&envelope)).is_error
        };
        assert!(failed(r#"{"id":1,"error":{"code":1,"message":"x"}}"#));
        assert!(failed(r#"{"id":1,"result":{"isError":true}}"#));
        assert!(!failed(r#"{"id":1,"result":{"isError":false}}"#));
        assert!(!failed(r#"{"id":1,"result":{"isError":"true"}}"#));
        assert!(!failed(r#"{"id":1,"result":{}}"#));
        assert!(!Original::default().is_error);
    }
}
