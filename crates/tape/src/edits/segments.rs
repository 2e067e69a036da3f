//! The outcome of edits: pieces of the original and pieces of our own, in order.

use super::Patch;
use super::error::{EditError, Reason};

/// A run of bytes of an edited text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment<'a> {
    /// Bytes of the original.
    Borrowed(&'a [u8]),
    /// Bytes an operation brought.
    Owned(Vec<u8>),
}

impl Segment<'_> {
    /// The bytes, wherever they live.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// An edited text, as segments ready for a vectored write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedText<'a> {
    segments: Vec<Segment<'a>>,
    changed: bool,
}

impl<'a> EditedText<'a> {
    /// The segments in order. Without operations: one, the original.
    pub fn segments(&self) -> &[Segment<'a>] {
        &self.segments
    }

    /// The segments in order, by value.
    pub fn into_segments(self) -> Vec<Segment<'a>> {
        self.segments
    }

    /// Whether any operation was applied.
    pub fn is_changed(&self) -> bool {
        self.changed
    }

    /// Number of bytes in all.
    pub fn len(&self) -> usize {
        self.segments
            .iter()
            .map(|segment| segment.as_bytes().len())
            .sum()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes in one buffer.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.len());
        for segment in &self.segments {
            all.extend_from_slice(segment.as_bytes());
        }
        all
    }
}

/// Put sorted patches between the bytes they leave alone.
pub(super) fn assemble(original: &[u8], patches: Vec<Patch>) -> Result<EditedText<'_>, EditError> {
    let mut segments = Vec::with_capacity(2 * patches.len() + 1);
    let changed = !patches.is_empty();
    let mut kept = 0;
    for patch in patches {
        let start = patch.span.start;
        let range = patch.span.range();
        if original.get(range.clone()).is_none() {
            return Err(EditError::new(start, Reason::OutOfBounds));
        }
        let before = original.get(kept..range.start);
        let before = before.ok_or_else(|| EditError::new(start, Reason::Overlap))?;
        push(&mut segments, Segment::Borrowed(before));
        push(&mut segments, Segment::Owned(patch.with));
        kept = range.end;
    }
    let rest = original.get(kept..).unwrap_or_default();
    if !changed || !rest.is_empty() {
        segments.push(Segment::Borrowed(rest));
    }
    Ok(EditedText { segments, changed })
}

fn push<'a>(segments: &mut Vec<Segment<'a>>, segment: Segment<'a>) {
    if !segment.as_bytes().is_empty() {
        segments.push(segment);
    }
}
