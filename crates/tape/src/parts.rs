//! The parts of a message that a scan lays out as tapes while it reads, so that no part is read twice.
//! A tape takes 16 bytes a value, so there are limits. A part beyond them is only scanned; a caller that needs its
//! tape parses it again.

use std::fmt;

use crate::envelope::Member;
use crate::error::ParseError;
use crate::tape::{Limits, Scratch, Tape};

/// More values than this in `content` are not worth a tape: honest results have a few blocks.
const MAX_CONTENT_NODES: usize = 1 << 12;
const MAX_CONTENT_DEPTH: u32 = 64;

/// Which parts of a result are wanted as tapes.
#[derive(Debug, Clone, Copy, Default)]
pub struct WantedParts {
    /// `structuredContent`, if it is no deeper than this and the whole message no longer.
    pub structured: Option<Limits>,
    /// `content`, if it is of ordinary size.
    pub content: bool,
}

/// Reads `structuredContent` in place of a tape, for a caller that needs no tape of what it can judge on the way.
pub trait ValueReader: fmt::Debug {
    /// Reads the value at `at`, which may be `max_depth` deep. `None` says nothing about the value: it is laid out as a tape
    /// then. A value that is read this way repeats no member name and has no lone surrogate.
    fn read(&mut self, text: &str, at: usize, max_depth: u32) -> Option<ReadValue>;
}

/// A value that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadValue {
    /// Offset just past it.
    pub end: usize,
    /// Its nesting, as [`Limits::max_depth`] counts it.
    pub depth: u32,
}

/// The tapes of the parts that were wanted and are within the limits. Offsets are those of the message.
#[derive(Debug, Default)]
pub struct PartTapes<'a> {
    /// `structuredContent`
    pub structured: Option<Tape<'a>>,
    /// `content`
    pub content: Option<Tape<'a>>,
}

/// Buffers for the tapes of parts, used again for the next message.
#[derive(Debug, Default)]
pub struct PartBuffers {
    structured: Scratch,
    content: Scratch,
}

impl PartTapes<'_> {
    /// Give the buffers back for the next message.
    pub fn recycle(self, buffers: &mut PartBuffers) {
        if let Some(tape) = self.structured {
            tape.recycle(&mut buffers.structured);
        }
        if let Some(tape) = self.content {
            tape.recycle(&mut buffers.content);
        }
    }
}

/// One part that was laid out as a tape.
pub(crate) struct ParsedPart {
    pub(crate) end: usize,
    pub(crate) depth: u32,
    /// The first string in it with a lone surrogate.
    pub(crate) surrogate: Option<u32>,
}

impl From<ReadValue> for ParsedPart {
    fn from(read: ReadValue) -> Self {
        Self {
            end: read.end,
            depth: read.depth,
            surrogate: None,
        }
    }
}

/// Lays parts out for a scan.
pub(crate) struct PartParser<'a, 's> {
    text: &'a str,
    wanted: WantedParts,
    buffers: &'s mut PartBuffers,
    reader: Option<&'s mut dyn ValueReader>,
    pub(crate) tapes: PartTapes<'a>,
}

impl<'a, 's> PartParser<'a, 's> {
    pub(crate) fn new(
        text: &'a str,
        mut wanted: WantedParts,
        buffers: &'s mut PartBuffers,
        reader: Option<&'s mut dyn ValueReader>,
    ) -> Self {
        let fits = |limits: &Limits| text.len() <= limits.max_bytes;
        wanted.structured = wanted.structured.filter(fits);
        Self {
            text,
            wanted,
            buffers,
            reader,
            tapes: PartTapes::default(),
        }
    }

    /// Lay out the value of a member at `at`, which may be `most` deep. `None`: it is not wanted, or beyond the limits.
    pub(crate) fn parse(
        &mut self,
        member: Member,
        at: usize,
        most: u32,
    ) -> Result<Option<ParsedPart>, ParseError> {
        let (buffers, tapes) = (&mut *self.buffers, &mut self.tapes);
        let (scratch, slot, max_depth, max_nodes) = match member {
            Member::StructuredContent => {
                let Some(Limits { max_depth, .. }) = self.wanted.structured.take() else {
                    return Ok(None);
                };
                let reader = self.reader.as_mut();
                if let Some(read) =
                    reader.and_then(|reader| reader.read(self.text, at, max_depth.min(most)))
                {
                    return Ok(Some(read.into()));
                }
                let slot = &mut tapes.structured;
                (&mut buffers.structured, slot, max_depth, usize::MAX)
            }
            Member::Content if std::mem::take(&mut self.wanted.content) => {
                let (depth, nodes) = (MAX_CONTENT_DEPTH, MAX_CONTENT_NODES);
                (&mut buffers.content, &mut tapes.content, depth, nodes)
            }
            _ => return Ok(None),
        };
        let mut builder = scratch.builder(self.text, max_depth.min(most), max_nodes);
        match builder.run_at(at) {
            Ok(end) => {
                let tape = Tape::finish(builder, scratch);
                let first = tape.lone_surrogates().first();
                let part = ParsedPart {
                    end,
                    depth: tape.depth(),
                    surrogate: first.map(|node| tape.node(*node).start()),
                };
                *slot = Some(tape);
                Ok(Some(part))
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
