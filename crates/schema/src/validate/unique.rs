//! `uniqueItems`, by sorting canonical forms.
//!
//! Sorting needs no hash, so a server cannot make values collide: the cost is n log n comparisons, paid before it starts.

use countersign_tape::Kind;

use super::{Halt, Machine};
use crate::program::NONE;

impl Machine<'_, '_> {
    /// Whether no two items of an array are equal.
    pub(super) fn is_unique(&mut self, array: u32) -> Result<bool, Halt> {
        let value = self.tape.node(array);
        let count = value.count();
        if count < 2 {
            return Ok(true);
        }
        let bytes = u64::from(value.end() - value.start());
        let rounds = u64::from(u32::BITS - count.leading_zeros());
        self.fuel
            .spend((bytes / 16 + u64::from(count)).saturating_mul(rounds))?;
        if self.all_plain_strings(array) {
            return Ok(self.are_strings_unique(array));
        }
        let buffers = &mut *self.buffers;
        buffers.forms.clear();
        buffers.spans.clear();
        for child in self.tape.children(array) {
            let start = buffers.forms.len();
            buffers
                .canonicaliser
                .write(self.tape, child, &mut buffers.forms);
            buffers
                .spans
                .push((index(start), index(buffers.forms.len())));
        }
        let forms = buffers.forms.as_slice();
        let form = |span: &(u32, u32)| {
            forms
                .get(span.0 as usize..span.1 as usize)
                .unwrap_or_default()
        };
        buffers.spans.sort_unstable_by(|a, b| form(a).cmp(form(b)));
        Ok(buffers.spans.windows(2).all(|pair| match pair {
            [a, b] => form(a) != form(b),
            _ => true,
        }))
    }

    fn all_plain_strings(&self, array: u32) -> bool {
        self.tape.children(array).all(|child| {
            let node = self.tape.node(child);
            node.kind() == Kind::String && !node.is_escaped()
        })
    }

    /// Strings without escapes are compared where they stand.
    fn are_strings_unique(&mut self, array: u32) -> bool {
        let spans = &mut self.buffers.spans;
        spans.clear();
        spans.extend(self.tape.children(array).map(|child| (child, 0)));
        spans.sort_unstable_by(|a, b| self.tape.raw_string(a.0).cmp(self.tape.raw_string(b.0)));
        spans.windows(2).all(|pair| match pair {
            [a, b] => self.tape.raw_string(a.0) != self.tape.raw_string(b.0),
            _ => true,
        })
    }
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(NONE)
}
