//! Applicators that stay on the same instance value.

use countersign_tape::Kind;

use super::{Lowering, append_all};
use crate::compile::index::position;
use crate::compile::resolve::Target;
use crate::keyword::Keyword;
use crate::program::{NONE, Operation, Range};
use crate::unenforceable::Unenforceable;

impl Lowering<'_, '_> {
    /// `object` is the plan whose names `dependentSchemas` refer to.
    pub(super) fn operations(&mut self, object: u32) -> Result<Range, Unenforceable> {
        let mut all = Vec::new();
        self.references(&mut all)?;
        for (keyword, make) in [
            (Keyword::AllOf, Operation::All as fn(Range) -> Operation),
            (Keyword::AnyOf, Operation::Any),
            (Keyword::OneOf, Operation::One),
        ] {
            if let Some(value) = self.part(keyword) {
                all.push(make(self.branches(value)?));
            }
        }
        if let Some(value) = self.part(Keyword::Not) {
            all.push(Operation::Not(self.schema_at(value)));
        }
        if let Some(value) = self.part(Keyword::If) {
            let (then, otherwise) = (self.schema(Keyword::Then), self.schema(Keyword::Else));
            all.push(Operation::If {
                condition: self.schema_at(value),
                then,
                otherwise,
            });
        }
        self.dependent_schemas(object, &mut all);
        Ok(append_all(&mut self.program.operations, all))
    }

    fn references(&mut self, all: &mut Vec<Operation>) -> Result<(), Unenforceable> {
        let (own, resource) = (self.place, self.resource);
        if let Some(value) = self.part(Keyword::Ref) {
            let target = self.index.resolve(resource, own.with_node(value))?;
            all.push(Operation::Ref(target));
        }
        if let Some(value) = self.part(Keyword::DynamicRef) {
            let target = self.index.resolve_dynamic(resource, own.with_node(value))?;
            all.push(self.reference(target));
        }
        if let Some(value) = self.part(Keyword::RecursiveRef) {
            let target = self
                .index
                .resolve_recursive(resource, own.with_node(value))?;
            all.push(self.reference(target));
        }
        Ok(())
    }

    fn reference(&mut self, target: Target) -> Operation {
        match target {
            Target::Static(node) => Operation::Ref(node),
            Target::Dynamic { anchor, fallback } => {
                let anchors = &mut self.shared.anchors;
                let known = anchors.iter().position(|name| *name == anchor);
                let number = known.unwrap_or_else(|| {
                    anchors.push(anchor);
                    anchors.len() - 1
                });
                Operation::DynamicRef {
                    anchor: position(number),
                    fallback,
                }
            }
        }
    }

    fn branches(&mut self, array: u32) -> Result<Range, Unenforceable> {
        let branches: Vec<_> = self
            .tape()
            .children(array)
            .map(|child| self.schema_at(child))
            .collect();
        if branches.is_empty() {
            return Err(self.invalid(array, "must have at least one schema"));
        }
        Ok(append_all(&mut self.program.branches, branches))
    }

    fn dependent_schemas(&self, object: u32, all: &mut Vec<Operation>) {
        let Some(plan) = self.program.objects.get(object as usize) else {
            return;
        };
        let tape = self.tape();
        for keyword in [Keyword::DependentSchemas, Keyword::Dependencies] {
            let Some(value) = self.part(keyword) else {
                continue;
            };
            for (key, child) in tape.members(value) {
                let schema = self.schema_at(child);
                if schema != NONE
                    && tape.node(child).kind() != Kind::Array
                    && let Some(property) = plan.names.find(&tape.string(key))
                {
                    all.push(Operation::Dependent { property, schema });
                }
            }
        }
    }
}
