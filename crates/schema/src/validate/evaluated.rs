//! Which members and items have been judged, for `unevaluatedProperties` and `unevaluatedItems`.
//!
//! Only frames that need it keep score: those with such a keyword, and those in place below them. A frame's bits lie
//! on a stack like the frame itself, and are handed up when it succeeds.

use countersign_tape::Kind;

use super::frame::{Frame, Link, Stage};
use super::{Flow, Halt, Machine};
use crate::keyword::Keyword;
use crate::program::NONE;

impl Machine<'_, '_> {
    /// Sets aside the bits a new frame needs: names seen in a wide object, and what is evaluated.
    pub(super) fn reserve_bits(&mut self, frame: &mut Frame) -> Result<(), Halt> {
        let node = &self.program.nodes[frame.node as usize];
        let value = self.tape.node(frame.instance);
        let mut words = 0;
        if value.kind() == Kind::Object
            && let Some(plan) = self.program.objects.get(node.object as usize)
            && !plan.is_narrow()
        {
            frame.seen = u64::from(frame.bits);
            words = plan.schemas.len().div_ceil(64);
        }
        let own = match value.kind() {
            Kind::Object => node.unevaluated_properties != NONE,
            Kind::Array => node.unevaluated_items != NONE,
            _ => false,
        };
        frame.tracked = own || frame.merges;
        if frame.tracked {
            frame.evaluated = frame.bits + u32::try_from(words).unwrap_or(NONE);
            words += value.count().div_ceil(64) as usize;
        }
        if words > 0 {
            self.fuel.spend(words as u64)?;
            self.buffers.bits.resize(frame.bits as usize + words, 0);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn bits_len(&self) -> u32 {
        u32::try_from(self.buffers.bits.len()).unwrap_or(NONE)
    }

    #[inline]
    pub(super) fn mark_evaluated(&mut self, frame: &Frame, ordinal: u32) {
        if frame.tracked {
            self.set_bit(frame.evaluated, ordinal);
        }
    }

    pub(super) fn set_bit(&mut self, start: u32, bit: u32) {
        if let Some(word) = self.buffers.bits.get_mut((start + bit / 64) as usize) {
            *word |= 1 << (bit % 64);
        }
    }

    pub(super) fn bit(&self, start: u32, bit: u32) -> bool {
        let word = self.buffers.bits.get((start + bit / 64) as usize);
        word.is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// What a valid in-place frame evaluated counts for the frame that asked.
    pub(super) fn merge_into_parent(&mut self, frame: &Frame) {
        let Some(parent) = self
            .buffers
            .frames
            .last()
            .copied()
            .filter(|parent| parent.tracked)
        else {
            return;
        };
        let words = self.tape.node(frame.instance).count().div_ceil(64) as usize;
        let (lower, upper) = self.buffers.bits.split_at_mut(frame.evaluated as usize);
        let into = lower
            .get_mut(parent.evaluated as usize..)
            .unwrap_or_default();
        for (target, source) in into.iter_mut().zip(upper.iter().take(words)) {
            *target |= source;
        }
    }

    pub(super) fn begin_unevaluated(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        if !frame.tracked {
            return Ok(Flow::Valid);
        }
        frame.stage = Stage::Unevaluated;
        frame.cursor = frame.instance + 1;
        frame.ordinal = 0;
        self.unevaluated(frame)
    }

    /// Judges what nothing else has judged.
    pub(super) fn unevaluated(&mut self, frame: &mut Frame) -> Result<Flow, Halt> {
        let node = &self.program.nodes[frame.node as usize];
        let value = self.tape.node(frame.instance);
        let is_object = value.kind() == Kind::Object;
        let (schema, keyword) = if is_object {
            (node.unevaluated_properties, Keyword::UnevaluatedProperties)
        } else {
            (node.unevaluated_items, Keyword::UnevaluatedItems)
        };
        while schema != NONE && frame.cursor < value.next() {
            let instance = frame.cursor + u32::from(is_object);
            frame.cursor = self.tape.node(instance).next();
            let ordinal = frame.ordinal;
            frame.ordinal += 1;
            self.fuel.spend(1)?;
            if self.bit(frame.evaluated, ordinal) {
                continue;
            }
            self.set_bit(frame.evaluated, ordinal);
            match self.apply(frame, schema, instance, Link::Child, keyword)? {
                Flow::Valid => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Valid)
    }
}
