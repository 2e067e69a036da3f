//! Bytes an upstream sent, not inspected yet. They can be handed to `examine` and to nothing else: no
//! clone, no serialisation, no view, and `Debug` prints a length. So the compiler prevents that a
//! result is forwarded without inspection.

use std::fmt;

use bytes::Bytes;

use crate::era::Era;

/// What the bytes are expected to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Framing {
    /// A whole JSON-RPC response.
    Message,
    /// A bare result object.
    Result,
    /// A response if there is a `jsonrpc` member, else a bare result.
    #[default]
    Detect,
}

/// Where a reply came from.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// What the upstream negotiated.
    pub era: Era,
    /// What its bytes hold.
    pub framing: Framing,
    /// The id its answer must carry, as the JSON token we sent. `None`: any id will do.
    pub id: Option<Bytes>,
}

impl Source {
    /// A source of this era whose bytes may be a response or a bare result.
    pub fn new(era: Era) -> Self {
        Self {
            era,
            ..Self::default()
        }
    }

    /// A source that answers the request with this id token.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<Bytes>) -> Self {
        self.framing = Framing::Message;
        self.id = Some(id.into());
        self
    }
}

/// One reply as it arrived.
pub struct RawReply {
    pub(crate) bytes: Bytes,
    pub(crate) source: Source,
}

impl RawReply {
    /// Takes hold of the bytes.
    pub fn new(bytes: impl Into<Bytes>, source: Source) -> Self {
        Self {
            bytes: bytes.into(),
            source,
        }
    }

    /// How many bytes arrived.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing arrived.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl fmt::Debug for RawReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawReply")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_prints_a_length_and_nothing_else() {
        let raw = RawReply::new(&b"{\"secret\":1}"[..], Source::default());
        assert_eq!(format!("{raw:?}"), "RawReply { len: 12, .. }");
    }
}
