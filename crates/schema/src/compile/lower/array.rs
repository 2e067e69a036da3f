//! Assertions and applicators on arrays.

use countersign_tape::Kind;

use super::{Lowering, append};
use crate::dialect::Dialect;
use crate::keyword::Keyword;
use crate::program::{ArrayPlan, NONE, NodeId, Target};
use crate::unenforceable::Unenforceable;

impl Lowering<'_, '_> {
    pub(super) fn array_plan(&mut self) -> Result<u32, Unenforceable> {
        let (prefix, rest_keyword) = self.prefix();
        let contains = self.schema(Keyword::Contains);
        let is_modern = self.rules.dialect == Dialect::Draft202012;
        let (min_contains, max_contains) = if contains == NONE {
            (0, u64::MAX)
        } else {
            let least = self.count(Keyword::MinContains, 1)?;
            (least, self.count(Keyword::MaxContains, u64::MAX)?)
        };
        let plan = ArrayPlan {
            prefix,
            targets: Vec::new(),
            other: Target::NONE,
            prefix_keyword: if is_modern {
                Keyword::PrefixItems
            } else {
                Keyword::Items
            },
            rest: self.schema(rest_keyword),
            rest_keyword,
            contains,
            min_contains,
            max_contains,
            contains_evaluates: is_modern,
            min_items: self.count(Keyword::MinItems, 0)?,
            max_items: self.count(Keyword::MaxItems, u64::MAX)?,
            unique: self.boolean(Keyword::UniqueItems)?,
        };
        if plan.asserts_nothing() {
            return Ok(NONE);
        }
        Ok(append(&mut self.program.arrays, plan))
    }

    /// The schemas of the first items, and the keyword that rules the others. Before 2020-12 an array of `items` was
    /// the prefix and `additionalItems` the rest.
    fn prefix(&self) -> (Vec<NodeId>, Keyword) {
        let tape = self.tape();
        let all = |array: u32| {
            tape.children(array)
                .map(|child| self.schema_at(child))
                .collect()
        };
        if self.rules.dialect == Dialect::Draft202012 {
            let prefix = self.part(Keyword::PrefixItems).map(all);
            return (prefix.unwrap_or_default(), Keyword::Items);
        }
        match self.part(Keyword::Items) {
            Some(items) if tape.node(items).kind() == Kind::Array => {
                (all(items), Keyword::AdditionalItems)
            }
            _ => (Vec::new(), Keyword::Items),
        }
    }
}
