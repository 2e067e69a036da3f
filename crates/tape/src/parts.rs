//! The parts of a message that a scan lays out as tapes while it reads, so that no part is read twice.
//! A tape takes 16 bytes a value, so there are limits. A part beyond them is only scanned; a caller that needs its
//! tape parses it again.

use crate::envelope::Member;
use crate::error::ParseError;
use crate::tape::{Limits, Scratch, Tape};

/// More values than this in `content` are not worth a tape: honest results have a few blocks.
const MAX_CONTENT_NODES: usize = 1 << 12;
const MAX_CONTENT_DEPTH: u32 = 64;

/// Which parts of a result are wanted as tapes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Keep {
    /// `structuredContent`, if it is no deeper than this and the whole message no longer.
    pub structured: Option<Limits>,
    /// `content`, if it is of ordinary size.
    pub content: bool,
}

/// The parts that were wanted and could be laid out. Offsets are those of the message.
#[derive(Debug, Default)]
pub struct Kept<'a> {
    /// `structuredContent`
    pub structured: Option<Tape<'a>>,
    /// `content`
    pub content: Option<Tape<'a>>,
}

/// Buffers for both, to be used again.
#[derive(Debug, Default)]
pub struct Shelf {
    structured: Scratch,
    content: Scratch,
}

impl Kept<'_> {
    /// Give the buffers back for the next message.
    pub fn recycle(self, shelf: &mut Shelf) {
        if let Some(tape) = self.structured {
            tape.recycle(&mut shelf.structured);
        }
        if let Some(tape) = self.content {
            tape.recycle(&mut shelf.content);
        }
    }
}

/// One value that was laid out.
pub(crate) struct Laid {
    pub(crate) end: usize,
    pub(crate) depth: u32,
    /// The first string in it with a lone surrogate.
    pub(crate) surrogate: Option<u32>,
}

/// Lays parts out for a scan.
pub(crate) struct Keeper<'a, 's> {
    text: &'a str,
    keep: Keep,
    shelf: &'s mut Shelf,
    pub(crate) kept: Kept<'a>,
}

impl<'a, 's> Keeper<'a, 's> {
    pub(crate) fn new(text: &'a str, mut keep: Keep, shelf: &'s mut Shelf) -> Self {
        keep.structured = keep
            .structured
            .filter(|limits| text.len() <= limits.max_bytes);
        Self {
            text,
            keep,
            shelf,
            kept: Kept::default(),
        }
    }

    /// Lay out the value of a member at `at`, which may be `most` deep. `None`: it is not wanted, or beyond the limits.
    pub(crate) fn keep(
        &mut self,
        member: Member,
        at: usize,
        most: u32,
    ) -> Result<Option<Laid>, ParseError> {
        let (scratch, slot, max_depth, max_nodes) = match member {
            Member::StructuredContent => {
                let Some(limits) = self.keep.structured.take() else {
                    return Ok(None);
                };
                let slot = &mut self.kept.structured;
                (
                    &mut self.shelf.structured,
                    slot,
                    limits.max_depth,
                    usize::MAX,
                )
            }
            Member::Content if std::mem::take(&mut self.keep.content) => {
                let slot = &mut self.kept.content;
                let (depth, nodes) = (MAX_CONTENT_DEPTH, MAX_CONTENT_NODES);
                (&mut self.shelf.content, slot, depth, nodes)
            }
            _ => return Ok(None),
        };
        let mut builder = scratch.builder(self.text, max_depth.min(most), max_nodes);
        match builder.run_at(at) {
            Ok(end) => {
                let tape = Tape::finish(builder, scratch);
                let first = tape.lone_surrogates().first();
                let laid = Laid {
                    end,
                    depth: tape.depth(),
                    surrogate: first.map(|node| tape.node(*node).start()),
                };
                *slot = Some(tape);
                Ok(Some(laid))
            }
            Err(error) => {
                scratch.give_up(builder);
                if error.is_too_deep() {
                    Ok(None)
                } else {
                    Err(error)
                }
            }
        }
    }
}
