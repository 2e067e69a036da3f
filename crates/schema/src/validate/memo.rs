//! A small, lossy cache of judgements: one slot per hash, and a later judgement overwrites an earlier one.
//!
//! It turns the doubling of `allOf: [x, x]` over n levels from 2^n into n. It is a help, never the bound: that is fuel.

use super::frame::Frame;
use super::{Halt, Machine};
use crate::program::NodeId;

/// Slots; 1 MiB in all, made when first used.
const SLOTS: usize = 65_536;

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: u64,
    /// Generation, scope and answer.
    tag: u64,
}

#[derive(Debug, Default)]
pub(super) struct Memo {
    slots: Vec<Slot>,
    generation: u32,
    used: bool,
}

impl Memo {
    /// Makes all that is remembered stale.
    pub(super) fn forget(&mut self) {
        if !self.used {
            return;
        }
        self.used = false;
        self.generation += 1;
        if self.generation == u32::MAX >> 1 {
            self.slots.clear();
            self.generation = 0;
        }
    }

    fn get(&self, node: NodeId, instance: u32, scope: u32) -> Option<bool> {
        let key = memo_key(node, instance);
        let slot = self.slots.get(slot_of(key))?;
        let known = slot.key == key && slot.tag >> 1 == self.stamp(scope);
        known.then_some(slot.tag & 1 == 1)
    }

    fn put(&mut self, node: NodeId, instance: u32, scope: u32, valid: bool) {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, Slot::default());
        }
        if !self.used {
            self.used = true;
            self.generation = self.generation.max(1);
        }
        let key = memo_key(node, instance);
        let tag = self.stamp(scope) << 1 | u64::from(valid);
        if let Some(slot) = self.slots.get_mut(slot_of(key)) {
            *slot = Slot { key, tag };
        }
    }

    fn stamp(&self, scope: u32) -> u64 {
        u64::from(self.generation) << 32 | u64::from(scope)
    }
}

fn memo_key(node: NodeId, instance: u32) -> u64 {
    u64::from(node) << 32 | u64::from(instance)
}

fn slot_of(key: u64) -> usize {
    // Multiplicative hashing; the top 16 bits index the slots.
    usize::try_from(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48).unwrap_or(0)
}

impl Machine<'_, '_> {
    pub(super) fn remembered(
        &mut self,
        frame: &Frame,
        node: NodeId,
        instance: u32,
    ) -> Result<Option<bool>, Halt> {
        if !self.buffers.memo.used {
            return Ok(None);
        }
        self.fuel.spend(1)?;
        let scope = self.scope_for(frame, node)?;
        Ok(self.buffers.memo.get(node, instance, scope))
    }

    pub(super) fn remember(&mut self, frame: &Frame, valid: bool) {
        self.buffers
            .memo
            .put(frame.node, frame.instance, frame.scope, valid);
    }
}
