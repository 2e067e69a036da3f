//! The dynamic scope, as far as `$dynamicRef` can see it.
//!
//! Of all resources entered so far, only the outermost definition of each anchor matters. A scope is therefore one
//! target per anchor; scopes are numbered, and frames carry the number. Scope 0 is the empty one.

use std::collections::BTreeMap;

use super::frame::Frame;
use super::{Halt, Machine};
use crate::program::{NONE, NodeId};

/// Scopes one run may make. Each is a different order of entering resources, which honest schemas have few of.
const MAX_SCOPES: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Scopes {
    targets: Vec<Box<[NodeId]>>,
    numbers: BTreeMap<Box<[NodeId]>, u32>,
    /// The scope after entering a resource from a scope.
    entered: BTreeMap<(u32, u32), u32>,
}

impl Scopes {
    pub(super) fn clear(&mut self) {
        if !self.targets.is_empty() {
            *self = Self::default();
        }
    }
}

impl Machine<'_, '_> {
    /// The scope a subschema is judged in when a frame asks for it.
    #[inline]
    pub(super) fn scope_for(&mut self, frame: &Frame, node: NodeId) -> Result<u32, Halt> {
        if self.program.dynamic_anchors.is_empty() {
            return Ok(0);
        }
        self.enter_resource(frame.scope, self.program.nodes[node as usize].resource)
    }

    fn enter_resource(&mut self, outer: u32, resource: u32) -> Result<u32, Halt> {
        if let Some(known) = self.buffers.scopes.entered.get(&(outer, resource)) {
            return Ok(*known);
        }
        let anchors = &self.program.dynamic_anchors;
        self.fuel.spend(anchors.len() as u64)?;
        let scopes = &mut self.buffers.scopes;
        if scopes.targets.is_empty() {
            let empty: Box<[NodeId]> = vec![NONE; anchors.len()].into();
            scopes.numbers.insert(empty.clone(), 0);
            scopes.targets.push(empty);
        }
        let mut targets = scopes.targets[outer as usize].clone();
        for (target, definers) in targets.iter_mut().zip(anchors) {
            if *target == NONE
                && let Ok(place) = definers.binary_search_by_key(&resource, |(definer, _)| *definer)
            {
                *target = definers[place].1;
            }
        }
        let next = u32::try_from(scopes.targets.len()).unwrap_or(NONE);
        let number = *scopes.numbers.entry(targets.clone()).or_insert(next);
        if number == next {
            if scopes.targets.len() >= MAX_SCOPES {
                return Err(Halt::Exhausted);
            }
            scopes.targets.push(targets);
        }
        scopes.entered.insert((outer, resource), number);
        Ok(number)
    }

    /// Where a dynamic reference leads in a frame's scope.
    pub(super) fn dynamic_target(&self, frame: &Frame, anchor: u32, fallback: NodeId) -> NodeId {
        let targets = self.buffers.scopes.targets.get(frame.scope as usize);
        match targets.and_then(|targets| targets.get(anchor as usize)) {
            Some(target) if *target != NONE => *target,
            _ => fallback,
        }
    }
}
