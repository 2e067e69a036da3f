//! Why a client cancelled a request, in the client's own words. The server that carries the request out is told; nothing
//! else reads it.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use countersign_tape::{Kind, Span, quote};

/// A reason is for a log or a screen; the rest of a longer one is cut off.
const MAX_CHARS: usize = 1024;

/// The reason of one request; clones share it. Nothing until the client has given one.
#[derive(Clone, Debug, Default)]
pub struct CancelReason(Arc<OnceLock<Bytes>>);

impl CancelReason {
    /// Takes the reason that a client gives, a raw JSON token. Only the first counts, and only a string.
    pub fn give(&self, token: &[u8]) {
        let whole = Span::whole(token);
        if whole.kind(token) != Some(Kind::String) {
            return;
        }
        let kept = match whole.string(token) {
            Some(text) if text.chars().nth(MAX_CHARS).is_some() => {
                let cut: String = text.chars().take(MAX_CHARS).collect();
                quote(&cut).into()
            }
            // A copy: a slice would keep the whole message alive.
            Some(_) => Bytes::copy_from_slice(token),
            None => return,
        };
        let _first = self.0.set(kept);
    }

    /// The reason as a raw JSON string.
    pub(crate) fn token(&self) -> Option<&[u8]> {
        self.0.get().map(|token| &**token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_text_is_kept_as_it_is_written() {
        let reason = CancelReason::default();
        for none in [&b"5"[..], b"null", br#"["a"]"#, b""] {
            reason.give(none);
            assert_eq!(reason.token(), None);
        }
        let other = reason.clone();
        other.give(br#""caf\u00e9 \n too slow""#);
        other.give(br#""again""#);
        assert_eq!(reason.token(), Some(&br#""caf\u00e9 \n too slow""#[..]));
    }

    #[test]
    fn an_essay_is_cut() {
        let reason = CancelReason::default();
        reason.give(format!("\"{}\"", "é".repeat(1 << 20)).as_bytes());
        let expected = format!("\"{}\"", "é".repeat(MAX_CHARS));
        assert_eq!(reason.token(), Some(expected.as_bytes()));
    }
}
