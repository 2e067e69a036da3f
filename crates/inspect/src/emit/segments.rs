//! Bytes ready to be written: slices of what the upstream sent and, between them, our own. The
//! upstream's are shared, never copied.

use bytes::Bytes;
use smallvec::SmallVec;

/// The bytes of a reply, in order, for one vectored write or one copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// Nearly every reply has three: before the id, the id, and behind it.
    parts: SmallVec<[Bytes; 3]>,
}

impl From<Bytes> for Segments {
    fn from(bytes: Bytes) -> Self {
        let mut segments = Self::default();
        segments.push(bytes);
        segments
    }
}

impl Segments {
    pub(crate) fn push(&mut self, part: Bytes) {
        if !part.is_empty() {
            self.parts.push(part);
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    pub(crate) fn push_static(&mut self, part: &'static str) {
        self.push(Bytes::from_static(part.as_bytes()));
    }

    /// The parts, none of them empty.
    pub fn parts(&self) -> &[Bytes] {
        &self.parts
    }

    /// The parts, by value.
    pub fn into_parts(self) -> Vec<Bytes> {
        self.parts.into_vec()
    }

    /// How many bytes in all.
    pub fn len(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// All bytes in one buffer; no copy if they are one already.
    pub fn into_bytes(mut self) -> Bytes {
        if self.parts.len() == 1
            && let Some(only) = self.parts.pop()
        {
            return only;
        }
        self.parts.concat().into()
    }
}
