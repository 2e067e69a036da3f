//! A quick check for numbers and strings that have one constraint which is cheap to test: a short integer within bounds,
//! plain text of the right length or form, a short word from a list. A value that does not pass it is judged in full.

use countersign_tape::{Kind, Node as TapeNode};

use super::leaf::inner_length;
use super::{Halt, Machine};
use crate::fuel::for_bytes;
use crate::number::fast_decimal;
use crate::program::{NONE, Node, NodeId, StringPlan};

impl Machine<'_, '_> {
    /// Decides a number or string of which one thing is asked. It is of the right type.
    #[inline(never)]
    pub(crate) fn simple(&mut self, id: NodeId, instance: u32) -> Result<bool, Halt> {
        let node = &self.program.nodes[id as usize];
        match self.quick_pass(node, instance) {
            Some(cost) => {
                self.fuel.spend(1 + cost)?;
                Ok(true)
            }
            None => self.simple_in_full(node, instance),
        }
    }

    /// The fuel that a quick check cost, if it shows that a value is valid.
    #[inline]
    fn quick_pass(&self, node: &Node, instance: u32) -> Option<u64> {
        let program = self.program;
        let value = self.tape.node(instance);
        if value.kind() == Kind::Number {
            let (lowest, highest) = program.numbers.get(node.number as usize)?.integers?;
            let digits = self.tape.raw_bytes(instance);
            let Some((integer, 0)) = fast_decimal(digits) else {
                return None;
            };
            (lowest <= integer && integer <= highest).then(|| for_bytes(digits.len()))
        } else if value.is_escaped() {
            None
        } else if node.string != NONE {
            self.quick_pass_of_text(program.strings.get(node.string as usize)?, value, instance)
        } else {
            let [values] = node.values.slice(&program.values) else {
                return None;
            };
            values.strings.find_string(self.tape, instance)?;
            Some(for_bytes(inner_length(value)))
        }
    }

    #[inline]
    fn quick_pass_of_text(&self, plan: &StringPlan, value: TapeNode, instance: u32) -> Option<u64> {
        let length = inner_length(value) as u64;
        if !value.is_ascii() || plan.format.is_some() {
            return None;
        }
        if length < plan.min_length || length > plan.max_length {
            return None;
        }
        if plan.pattern == NONE {
            return Some(0);
        }
        let pattern = self.program.patterns.get(plan.pattern as usize)?;
        // The others are worth paying for first.
        let cheap = pattern.weight() == 1;
        let holds = cheap && pattern.is_match(self.tape.raw_string(instance));
        holds.then(|| for_bytes(inner_length(value)))
    }

    #[inline(never)]
    fn simple_in_full(&mut self, node: &Node, instance: u32) -> Result<bool, Halt> {
        self.fuel.spend(1)?;
        Ok(self.leaf_failure(node, instance)?.is_none())
    }
}
