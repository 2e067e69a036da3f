//! The compiled form of a schema: flat tables that validation walks without chasing pointers.
//!
//! A program is immutable once built. Nodes refer to each other and to their plans by index; [`NONE`] means absent.

mod array;
mod names;
mod node;
mod object;
mod operation;
mod range;
mod scalars;
mod target;

use crate::pattern::Pattern;

pub(crate) use array::ArrayPlan;
pub(crate) use names::Names;
pub(crate) use node::{Flags, Node};
pub(crate) use object::{DependentRequired, ObjectPlan};
pub(crate) use operation::Operation;
pub(crate) use range::Range;
pub(crate) use scalars::{Bound, NumberPlan, StringPlan, Values};
pub(crate) use target::Target;

/// Index of a subschema in [`Program::nodes`].
pub(crate) type NodeId = u32;

/// The absent index.
pub(crate) const NONE: u32 = u32::MAX;

/// A compiled schema.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) branches: Vec<NodeId>,
    pub(crate) values: Vec<Values>,
    pub(crate) numbers: Vec<NumberPlan>,
    pub(crate) strings: Vec<StringPlan>,
    pub(crate) objects: Vec<ObjectPlan>,
    pub(crate) arrays: Vec<ArrayPlan>,
    pub(crate) patterns: Vec<Pattern>,
    /// For each dynamic anchor that several resources define: the resources and where their anchor points.
    pub(crate) dynamic_anchors: Vec<Vec<(u32, NodeId)>>,
}

impl Program {
    /// What a node applies to the value that it judges.
    #[inline]
    pub(crate) fn operations_of(&self, node: NodeId) -> &[Operation] {
        let node = &self.nodes[node as usize];
        node.operations.slice(&self.operations)
    }

    /// Gives back the room that the tables have for growing: most have one or two entries, and room for four. A gateway
    /// may hold a program for each of thousands of tools.
    pub(crate) fn shrink(&mut self) {
        for values in &mut self.values {
            values.strings.shrink();
            values.canonical.shrink_to_fit();
        }
        for number in &mut self.numbers {
            number.bounds.shrink_to_fit();
        }
        self.objects.iter_mut().for_each(ObjectPlan::shrink);
        for array in &mut self.arrays {
            array.prefix.shrink_to_fit();
            array.targets.shrink_to_fit();
        }
        self.nodes.shrink_to_fit();
        self.operations.shrink_to_fit();
        self.branches.shrink_to_fit();
        self.values.shrink_to_fit();
        self.numbers.shrink_to_fit();
        self.strings.shrink_to_fit();
        self.objects.shrink_to_fit();
        self.arrays.shrink_to_fit();
        self.patterns.shrink_to_fit();
        self.dynamic_anchors.shrink_to_fit();
    }

    /// Bytes held, roughly.
    pub(crate) fn memory_usage(&self) -> usize {
        let object = |plan: &ObjectPlan| size_of_val(plan) + plan.names.memory_usage();
        let objects: usize = self.objects.iter().map(object).sum();
        let values: usize = self.values.iter().map(Values::memory_usage).sum();
        let patterns: usize = self.patterns.iter().map(Pattern::memory_usage).sum();
        size_of_val(self.nodes.as_slice())
            + size_of_val(self.operations.as_slice())
            + size_of_val(self.branches.as_slice())
            + size_of_val(self.numbers.as_slice())
            + size_of_val(self.strings.as_slice())
            + size_of_val(self.arrays.as_slice())
            + objects
            + values
            + patterns
    }
}
