//! Decisions that need no frame: types, constants, numbers and strings, and shallow combinations of them.

use std::cmp::Ordering;

use countersign_tape::{Kind, Node as TapeNode};

use super::{Halt, Machine};
use crate::fuel::for_bytes;
use crate::keyword::Keyword;
use crate::number::{Number, fast_decimal, order_scaled};
use crate::program::{
    Bound, Flags, NONE, Node, NodeId, NumberPlan, Operation, Range, StringPlan, Values,
};

impl Machine<'_, '_> {
    /// Decides a value without a frame, where that is possible.
    ///
    /// The recursion is native but bounded by the program, not by the input: only nodes marked shallow are entered,
    /// and those nest at most three deep.
    #[inline]
    pub(super) fn try_quick_answer(
        &mut self,
        id: NodeId,
        instance: u32,
    ) -> Result<Option<bool>, Halt> {
        let program = self.program;
        let node = &program.nodes[id as usize];
        let value = self.tape.node(instance);
        self.fuel.spend(1)?;
        let kind = value.kind();
        if !node.types.admits(kind) && !self.is_wanted_integer(node, value, instance)? {
            return Ok(Some(false));
        }
        match kind {
            Kind::Object if node.object != NONE || node.unevaluated_properties != NONE => {
                return Ok(None);
            }
            Kind::Array if node.array != NONE || node.unevaluated_items != NONE => return Ok(None),
            Kind::String | Kind::Key
                if node.string != NONE
                    && self
                        .string_failure(&program.strings[node.string as usize], value, instance)?
                        .is_some() =>
            {
                return Ok(Some(false));
            }
            Kind::Number
                if node.number != NONE
                    && self
                        .number_failure(&program.numbers[node.number as usize], instance)?
                        .is_some() =>
            {
                return Ok(Some(false));
            }
            _ => {}
        }
        if node.flags.has(Flags::FALSE) {
            return Ok(Some(false));
        }
        if !node.values.is_empty() && self.values_failure(node, value, instance)?.is_some() {
            return Ok(Some(false));
        }
        if node.operations.is_empty() {
            return Ok(Some(true));
        }
        let container = matches!(kind, Kind::Object | Kind::Array);
        let decidable = if container {
            Flags::SHALLOW_EVERYWHERE
        } else {
            Flags::SHALLOW
        };
        if !node.flags.has(decidable) {
            return Ok(None);
        }
        self.quick_operations(node, instance)
    }

    fn quick_operations(&mut self, node: &Node, instance: u32) -> Result<Option<bool>, Halt> {
        let program = self.program;
        for operation in node.operations.slice(&program.operations) {
            let verdict = match *operation {
                Operation::Ref(target) => self.try_quick_answer(target, instance)?,
                Operation::Not(target) => {
                    self.try_quick_answer(target, instance)?.map(|valid| !valid)
                }
                Operation::All(range) => self.quick_each(range, instance, true)?,
                Operation::Any(range) => self.quick_each(range, instance, false)?,
                Operation::One(range) => self.quick_one(range, instance)?,
                Operation::If {
                    condition,
                    then,
                    otherwise,
                } => match self.try_quick_answer(condition, instance)? {
                    None => None,
                    Some(held) => match if held { then } else { otherwise } {
                        NONE => Some(true),
                        target => self.try_quick_answer(target, instance)?,
                    },
                },
                // Only an object can have the property, and its plan would have asked for a frame.
                Operation::Dependent { .. } => Some(true),
                Operation::DynamicRef { .. } => None,
            };
            if verdict != Some(true) {
                return Ok(verdict);
            }
        }
        Ok(Some(true))
    }

    /// The first verdict other than `expected`, or `expected` if all branches agree on it: `allOf` expects each branch
    /// to hold, `anyOf` to fail.
    fn quick_each(
        &mut self,
        branches: Range,
        instance: u32,
        expected: bool,
    ) -> Result<Option<bool>, Halt> {
        for branch in branches.slice(&self.program.branches) {
            let verdict = self.try_quick_answer(*branch, instance)?;
            if verdict != Some(expected) {
                return Ok(verdict);
            }
        }
        Ok(Some(expected))
    }

    fn quick_one(&mut self, branches: Range, instance: u32) -> Result<Option<bool>, Halt> {
        let mut matched = false;
        for branch in branches.slice(&self.program.branches) {
            match self.try_quick_answer(*branch, instance)? {
                None => return Ok(None),
                Some(true) if matched => return Ok(Some(false)),
                Some(valid) => matched |= valid,
            }
        }
        Ok(Some(matched))
    }

    /// The first assertion of the node itself that a value fails, its applicators aside.
    pub(super) fn leaf_failure(
        &mut self,
        node: &Node,
        instance: u32,
    ) -> Result<Option<Keyword>, Halt> {
        let program = self.program;
        let value = self.tape.node(instance);
        if !node.types.admits(value.kind()) && !self.is_wanted_integer(node, value, instance)? {
            return Ok(Some(Keyword::Type));
        }
        if let Some(keyword) = self.values_failure(node, value, instance)? {
            return Ok(Some(keyword));
        }
        match value.kind() {
            Kind::Number if node.number != NONE => {
                self.number_failure(&program.numbers[node.number as usize], instance)
            }
            Kind::String | Kind::Key if node.string != NONE => {
                self.string_failure(&program.strings[node.string as usize], value, instance)
            }
            _ => Ok(None),
        }
    }

    /// The type set has no `number`, but has `integer`, and the value is one.
    #[inline]
    fn is_wanted_integer(
        &mut self,
        node: &Node,
        value: TapeNode,
        instance: u32,
    ) -> Result<bool, Halt> {
        if value.kind() != Kind::Number || !node.types.admits_integers() {
            return Ok(false);
        }
        if value.is_integer_literal() {
            return Ok(true);
        }
        if node.flags.has(Flags::INTEGER_LITERALS) {
            return Ok(false);
        }
        let text = self.tape.raw(instance);
        self.fuel.spend_bytes(text.len())?;
        Ok(Number::parse(text).is_some_and(|number| number.is_integer()))
    }

    fn number_failure(
        &mut self,
        plan: &NumberPlan,
        instance: u32,
    ) -> Result<Option<Keyword>, Halt> {
        let bytes = self.tape.raw_bytes(instance);
        self.fuel.spend_bytes(bytes.len())?;
        let small = fast_decimal(bytes);
        for bound in &plan.bounds {
            if !is_within_bound(bound, small, || self.tape.raw(instance)) {
                return Ok(Some(bound.keyword));
            }
        }
        if let Some(divisor) = plan.multiple_of
            && !divisor
                .divides_text(self.tape.raw(instance))
                .unwrap_or(false)
        {
            return Ok(Some(Keyword::MultipleOf));
        }
        Ok(None)
    }

    fn string_failure(
        &mut self,
        plan: &StringPlan,
        value: TapeNode,
        instance: u32,
    ) -> Result<Option<Keyword>, Halt> {
        if plan.min_length > 0 || plan.max_length != u64::MAX {
            let length = self.length(value, instance)?;
            if length < plan.min_length {
                return Ok(Some(Keyword::MinLength));
            }
            if length > plan.max_length {
                return Ok(Some(Keyword::MaxLength));
            }
        }
        if plan.pattern != NONE && !self.matches(plan.pattern, instance)? {
            return Ok(Some(Keyword::Pattern));
        }
        if let Some(has_format) = plan.format {
            self.fuel.spend_bytes(inner_length(value))?;
            if !has_format(&self.tape.string(instance)) {
                return Ok(Some(Keyword::Format));
            }
        }
        Ok(None)
    }

    /// Whether a string or key matches a pattern.
    pub(super) fn matches(&mut self, pattern: u32, instance: u32) -> Result<bool, Halt> {
        let pattern = &self.program.patterns[pattern as usize];
        let raw = self.tape.raw_string(instance);
        let weight = u64::from(pattern.weight());
        self.fuel
            .spend(for_bytes(raw.len()).saturating_mul(weight))?;
        if !self.tape.node(instance).is_escaped() {
            return Ok(pattern.is_match(raw));
        }
        let text = &mut self.buffers.text;
        text.clear();
        countersign_tape::unescape_into(raw, text);
        Ok(pattern.is_match(text))
    }

    /// The length in characters. Plain ASCII is as long as its bytes.
    #[inline]
    fn length(&mut self, value: TapeNode, instance: u32) -> Result<u64, Halt> {
        if value.is_ascii() && !value.is_escaped() {
            return Ok(inner_length(value) as u64);
        }
        self.decoded_length(value, instance)
    }

    #[inline(never)]
    fn decoded_length(&mut self, value: TapeNode, instance: u32) -> Result<u64, Halt> {
        let raw = self.tape.raw_string(instance);
        self.fuel.spend_bytes(raw.len())?;
        if !value.is_escaped() {
            return Ok(raw.chars().count() as u64);
        }
        let text = &mut self.buffers.text;
        text.clear();
        countersign_tape::unescape_into(raw, text);
        Ok(text.chars().count() as u64)
    }

    fn values_failure(
        &mut self,
        node: &Node,
        value: TapeNode,
        instance: u32,
    ) -> Result<Option<Keyword>, Halt> {
        let program = self.program;
        for values in node.values.slice(&program.values) {
            if !self.is_among(values, value, instance)? {
                return Ok(Some(values.keyword));
            }
        }
        Ok(None)
    }

    fn is_among(&mut self, values: &Values, value: TapeNode, instance: u32) -> Result<bool, Halt> {
        match value.kind() {
            Kind::Null => Ok(values.null),
            Kind::True => Ok(values.yes),
            Kind::False => Ok(values.no),
            Kind::String | Kind::Key => {
                self.fuel.spend_bytes(inner_length(value))?;
                Ok(values.strings.find_string(self.tape, instance).is_some())
            }
            Kind::Array | Kind::Object if !values.composite => Ok(false),
            Kind::Number | Kind::Array | Kind::Object => {
                if values.canonical.is_empty() {
                    return Ok(false);
                }
                self.fuel.spend_bytes(self.tape.raw(instance).len())?;
                let buffers = &mut *self.buffers;
                buffers.forms.clear();
                buffers
                    .canonicaliser
                    .write(self.tape, instance, &mut buffers.forms);
                let form = buffers.forms.as_slice();
                Ok(values
                    .canonical
                    .binary_search_by(|known| (**known).cmp(form))
                    .is_ok())
            }
        }
    }
}

/// The bytes of a string as written, without its quotes.
#[inline]
pub(super) fn inner_length(string: TapeNode) -> usize {
    (string.end() - string.start()).saturating_sub(2) as usize
}

/// A number too extreme to compare is outside every bound.
#[inline]
fn is_within_bound<'a>(
    bound: &Bound,
    small: Option<(i64, u32)>,
    text: impl Fn() -> &'a str,
) -> bool {
    let order = match (small, bound.small) {
        (Some((value, scale)), Some(limit)) => order_scaled(value, scale, limit),
        _ => match bound.value.order_of(text()) {
            Some(order) => order,
            None => return false,
        },
    };
    match bound.keyword {
        Keyword::Minimum => order != Ordering::Less,
        Keyword::ExclusiveMinimum => order == Ordering::Greater,
        Keyword::Maximum => order != Ordering::Greater,
        _ => order == Ordering::Less,
    }
}
