//! What a reply says about itself: an error or a result, final or not. Read from its raw bytes;
//! no value of it is kept but an error's code.

use std::borrow::Cow;
use std::ops::Range;

use countersign_tape::{Envelope, Kind, Member, ScanLimits, elements, members, scan};

/// The plain facts of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyFacts {
    /// A JSON-RPC error's code.
    pub error_code: Option<i64>,
    /// Whether it is a result that says `isError`.
    pub is_error: bool,
    /// Whether it is a result at all.
    pub is_result: bool,
    /// Whether it is the final result and no request for input or handle of a task.
    pub is_final: bool,
    structured: Option<Range<usize>>,
}

impl ReplyFacts {
    /// Reads a JSON-RPC response, or a bare result. What is neither says nothing.
    pub fn read(bytes: &[u8]) -> Self {
        let Ok(envelope) = scan(bytes, &ScanLimits::default()) else {
            return Self::default();
        };
        if envelope.get(Member::JsonRpc).is_some() {
            return Self::from_envelope(bytes, &envelope, 0);
        }
        // A bare result, read as if it stood in a response.
        let framed = [&br#"{"jsonrpc":"2.0","result":"#[..], bytes, b"}"].concat();
        let lead = framed.len() - bytes.len() - 1;
        scan(&framed, &ScanLimits::default()).map_or_else(
            |_| Self::default(),
            |envelope| Self::from_envelope(&framed, &envelope, lead),
        )
    }

    fn from_envelope(bytes: &[u8], envelope: &Envelope, lead: usize) -> Self {
        let code = envelope
            .get(Member::ErrorCode)
            .map(|code| code.bytes(bytes));
        let code = code.and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
        let error = envelope.error().is_some();
        let kind = envelope
            .get(Member::ResultType)
            .and_then(|kind| kind.string(bytes));
        let structured = envelope.structured_content().map(|span| {
            let range = span.range();
            range.start.saturating_sub(lead)..range.end.saturating_sub(lead)
        });
        Self {
            error_code: error.then(|| code.unwrap_or_default()),
            is_error: envelope.is_error(bytes) == Some(true),
            is_result: envelope.result().is_some(),
            is_final: envelope.result().is_some() && kind.is_none_or(|kind| kind == "complete"),
            structured,
        }
    }

    /// The structured content as written, out of the bytes that were read.
    pub fn structured<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.get(self.structured.clone()?)
    }
}

/// The texts of a reply that a person or a model would read: an error's message, the text blocks
/// of a result.
pub fn texts(bytes: &[u8]) -> Vec<String> {
    let Ok(envelope) = scan(bytes, &ScanLimits::default()) else {
        return vec![String::from_utf8_lossy(bytes).into_owned()];
    };
    let mut texts = Vec::new();
    for member in [Member::ErrorMessage, Member::ErrorData] {
        if let Some(span) = envelope.get(member) {
            let raw = || String::from_utf8_lossy(span.bytes(bytes)).into_owned();
            texts.push(span.string(bytes).map_or_else(raw, Cow::into_owned));
        }
    }
    let is_list = |content: &countersign_tape::Span| content.kind(bytes) == Some(Kind::Array);
    let blocks = envelope.content().filter(is_list);
    for block in blocks.into_iter().flat_map(|list| elements(bytes, list)) {
        let mut fields = members(bytes, block);
        let text = fields.find(|(key, _)| key.is_text(bytes, "text"));
        texts.extend(
            text.and_then(|(_, value)| value.string(bytes))
                .map(Cow::into_owned),
        );
    }
    texts
}
