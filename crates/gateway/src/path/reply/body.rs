//! The bytes of a response. A whole one is made of pieces that are never copied unless they are
//! small: up to 16 KiB go out as one, so that head and body fit one write. A stream is what a
//! task writes into it, until the task ends.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use countersign_inspect::Segments;
use hyper::body::{Frame, SizeHint};
use tokio::sync::mpsc;

const ONE_WRITE: usize = 16 * 1024;

/// A response body.
#[derive(Debug)]
pub(crate) enum Body {
    /// Of known length.
    Whole { parts: VecDeque<Bytes>, left: usize },
    /// Of a length that is not known yet.
    Stream(mpsc::Receiver<Bytes>),
    /// The same, where a part must not be taken for the whole: an error breaks the connection.
    Download(mpsc::Receiver<io::Result<Bytes>>),
}

impl Default for Body {
    fn default() -> Self {
        Self::from(Bytes::new())
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        let left = bytes.len();
        let parts = if left == 0 {
            VecDeque::new()
        } else {
            VecDeque::from([bytes])
        };
        Self::Whole { parts, left }
    }
}

impl From<Segments> for Body {
    fn from(segments: Segments) -> Self {
        let left = segments.len();
        if left <= ONE_WRITE {
            return Self::from(segments.into_bytes());
        }
        Self::Whole {
            parts: segments.into_parts().into(),
            left,
        }
    }
}

impl Body {
    /// What is left of a whole body, in one piece.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self {
            Self::Whole { parts, .. } if parts.len() == 1 => {
                parts.into_iter().next().unwrap_or_default()
            }
            Self::Whole { parts, .. } => Vec::from(parts).concat().into(),
            Self::Stream(_) | Self::Download(_) => Bytes::new(),
        }
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let part = match &mut *self {
            Self::Whole { parts, left } => {
                let part = parts.pop_front();
                *left -= part.as_ref().map_or(0, Bytes::len);
                Poll::Ready(part.map(Ok))
            }
            Self::Stream(parts) => parts.poll_recv(context).map(|part| part.map(Ok)),
            Self::Download(parts) => parts.poll_recv(context),
        };
        part.map(|part| part.map(|part| part.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole { parts, .. } if parts.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole { left, .. } => SizeHint::with_exact(*left as u64),
            Self::Stream(_) | Self::Download(_) => SizeHint::default(),
        }
    }
}
