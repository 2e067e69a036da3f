//! A stretch of text around one or several seams, and the blocks it came from.

use std::ops::Range;

use super::REACH;
use crate::sanitiser::Cleaned;

/// Neighbouring blocks, of the first and the last perhaps only a part.
pub(super) struct Stretch {
    parts: Vec<Part>,
}

/// What a stretch has of one block.
struct Part {
    block: usize,
    range: Range<usize>,
    /// Where it begins in the text of the stretch.
    at: usize,
    /// Characters of the stretch up to its end.
    chars: usize,
}

impl Stretch {
    fn from(blocks: &[Cleaned<'_>], left: usize) -> Self {
        let (start, text) = tail(blocks, left);
        let part = Part {
            block: left,
            range: start..start + text.len(),
            at: 0,
            chars: text.chars().count(),
        };
        Self { parts: vec![part] }
    }

    /// Whether the end of a block is in the stretch or touches it.
    fn reaches(&self, blocks: &[Cleaned<'_>], left: usize) -> bool {
        self.parts.last().is_some_and(|last| {
            last.block > left || (last.block == left && tail(blocks, left).0 <= last.range.end)
        })
    }

    /// Extends the stretch as far as anything that begins before the seam behind block `left` may go.
    fn extend(&mut self, blocks: &[Cleaned<'_>], left: usize) {
        let first = self.parts.first().map_or(left, |part| part.block);
        self.complete(blocks, left);
        let seam = self.parts.get(left - first).map_or(0, |part| part.chars);
        loop {
            let Some(last) = self.parts.last() else {
                return;
            };
            let room = REACH.saturating_sub(last.chars - seam);
            if room == 0 {
                return;
            }
            let before = (last.block, last.range.end);
            self.grow(blocks, room);
            if self.parts.last().map(|last| (last.block, last.range.end)) == Some(before) {
                return;
            }
        }
    }

    /// Takes in the rest of block `left`, if the stretch ends inside it.
    fn complete(&mut self, blocks: &[Cleaned<'_>], left: usize) {
        if self.parts.last().is_some_and(|last| last.block == left) {
            self.grow_inside(blocks, usize::MAX);
        }
    }

    /// Takes in up to `room` more characters of the last block, or else of the next.
    fn grow(&mut self, blocks: &[Cleaned<'_>], room: usize) {
        let Some(last) = self.parts.last() else {
            return;
        };
        let length = blocks.get(last.block).map_or(0, |block| block.text.len());
        if last.range.end == length && last.block + 1 < blocks.len() {
            self.parts.push(Part {
                block: last.block + 1,
                range: 0..0,
                at: last.at + last.range.len(),
                chars: last.chars,
            });
        }
        self.grow_inside(blocks, room);
    }

    fn grow_inside(&mut self, blocks: &[Cleaned<'_>], room: usize) {
        let Some(last) = self.parts.last_mut() else {
            return;
        };
        let text = blocks
            .get(last.block)
            .map_or("", |block| block.text.as_ref());
        let rest = text.get(last.range.end..).unwrap_or_default();
        let end = rest
            .char_indices()
            .nth(room)
            .map_or(rest.len(), |(at, _)| at);
        last.chars += rest.get(..end).map_or(0, |part| part.chars().count());
        last.range.end += end;
    }

    /// The blocks it has parts of.
    pub(super) fn blocks(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().map(|part| part.block)
    }

    pub(super) fn text(&self, blocks: &[Cleaned<'_>]) -> String {
        self.parts
            .iter()
            .filter_map(|part| blocks.get(part.block)?.text.get(part.range.clone()))
            .collect()
    }

    /// Block and offset in it of a place in the text.
    pub(super) fn block_offset(&self, at: usize) -> Option<(usize, usize)> {
        let part = self.parts.get(self.part_at(at))?;
        Some((part.block, part.range.start + (at - part.at)))
    }

    /// Whether a range of the text is in several blocks.
    pub(super) fn crosses(&self, range: &Range<usize>) -> bool {
        range.start < range.end && self.part_at(range.start) != self.part_at(range.end - 1)
    }

    /// Number of the part that has the byte at `at`; of several parts without text at one place, the last.
    fn part_at(&self, at: usize) -> usize {
        let behind = self.parts.partition_point(|part| part.at <= at);
        behind.saturating_sub(1)
    }

    /// Puts a placeholder into every block that has a part of the range.
    pub(super) fn replace(&self, blocks: &mut [Cleaned<'_>], range: &Range<usize>, with: &str) {
        let first = self.part_at(range.start);
        for part in self.parts.iter().skip(first) {
            if part.at >= range.end {
                return;
            }
            let length = part.range.len();
            let start = range.start.saturating_sub(part.at).min(length);
            let end = (range.end - part.at).min(length);
            if start < end
                && let Some(block) = blocks.get_mut(part.block)
            {
                let part = part.range.start + start..part.range.start + end;
                block.text.to_mut().replace_range(part, with);
            }
        }
    }
}

/// The stretches around the seams behind the blocks `lefts`, which are in order.
pub(super) fn stretches(blocks: &[Cleaned<'_>], lefts: &[usize]) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for &left in lefts {
        if !all.last().is_some_and(|last| last.reaches(blocks, left)) {
            all.push(Stretch::from(blocks, left));
        }
        if let Some(last) = all.last_mut() {
            last.extend(blocks, left);
        }
    }
    all
}

/// The last characters of a block, and where they begin.
pub(super) fn tail<'b>(blocks: &'b [Cleaned<'_>], index: usize) -> (usize, &'b str) {
    let text = blocks.get(index).map_or("", |block| block.text.as_ref());
    let last = text.char_indices().rev().take(REACH).last();
    let start = last.map_or(text.len(), |(at, _)| at);
    (start, text.get(start..).unwrap_or_default())
}
