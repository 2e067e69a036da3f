//! The bytes of a response, as pieces that are never copied unless they are small: up to 16 KiB go
//! out as one, so that head and body fit one write.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use countersign_inspect::Segments;
use hyper::body::{Frame, SizeHint};

const ONE_WRITE: usize = 16 * 1024;

/// A response body of known length.
#[derive(Debug, Default)]
pub(crate) struct Body {
    parts: VecDeque<Bytes>,
    left: usize,
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        let left = bytes.len();
        let parts = if left == 0 {
            VecDeque::new()
        } else {
            VecDeque::from([bytes])
        };
        Self { parts, left }
    }
}

impl From<Segments> for Body {
    fn from(segments: Segments) -> Self {
        let left = segments.len();
        if left <= ONE_WRITE {
            return Self::from(segments.into_bytes());
        }
        Self {
            parts: segments.into_parts().into(),
            left,
        }
    }
}

impl Body {
    /// What is left of it, in one piece.
    #[cfg(test)]
    pub(crate) fn into_bytes(self) -> Bytes {
        Vec::from(self.parts).concat().into()
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = self.parts.pop_front();
        self.left -= part.as_ref().map_or(0, Bytes::len);
        Poll::Ready(part.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.parts.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}
