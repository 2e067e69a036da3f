//! Assertions and applicators on objects.

use std::collections::BTreeMap;

use countersign_tape::Kind;

use super::{Lowering, append};
use crate::compile::index::position;
use crate::keyword::Keyword;
use crate::program::{DependentRequired, NONE, Names, NodeId, ObjectPlan, Target};
use crate::unenforceable::Unenforceable;

/// The property names that the keywords of one subschema use, numbered in order of first use.
#[derive(Debug, Default)]
struct PropertyNames {
    numbers: BTreeMap<String, u32>,
    texts: Vec<Box<str>>,
    schemas: Vec<NodeId>,
}

impl PropertyNames {
    fn numbers(&mut self, names: Vec<String>) -> Vec<u32> {
        names.into_iter().map(|name| self.number(name)).collect()
    }

    fn number(&mut self, name: String) -> u32 {
        let texts = &mut self.texts;
        let schemas = &mut self.schemas;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            texts.push(name.as_str().into());
            schemas.push(NONE);
            position(texts.len() - 1)
        })
    }
}

impl Lowering<'_, '_> {
    pub(super) fn object_plan(&mut self) -> Result<u32, Unenforceable> {
        let mut mentioned = PropertyNames::default();
        self.properties(&mut mentioned);
        let required = self.required(&mut mentioned)?;
        let dependent_required = self.dependent_required(&mut mentioned)?;
        self.dependent_names(&mut mentioned);
        let plan = ObjectPlan {
            required_mask: required
                .iter()
                .filter(|bit| **bit < 64)
                .fold(0, |mask, bit| mask | 1 << bit),
            required,
            dependent_required,
            patterns: self.pattern_properties()?,
            additional: self.schema(Keyword::AdditionalProperties),
            property_names: self.schema(Keyword::PropertyNames),
            min_properties: self.count(Keyword::MinProperties, 0)?,
            max_properties: self.count(Keyword::MaxProperties, u64::MAX)?,
            names: Names::new(&mentioned.texts),
            schemas: mentioned.schemas,
            other: Target::NONE,
        };
        if plan.asserts_nothing() {
            return Ok(NONE);
        }
        Ok(append(&mut self.program.objects, plan))
    }

    fn properties(&self, mentioned: &mut PropertyNames) {
        let Some(value) = self.part(Keyword::Properties) else {
            return;
        };
        let tape = self.tape();
        for (key, child) in tape.members(value) {
            let number = mentioned.number(tape.string(key).into_owned());
            if let Some(schema) = mentioned.schemas.get_mut(number as usize) {
                *schema = self.schema_at(child);
            }
        }
    }

    fn required(&self, mentioned: &mut PropertyNames) -> Result<Vec<u32>, Unenforceable> {
        let Some(value) = self.part(Keyword::Required) else {
            return Ok(Vec::new());
        };
        let mut numbers = mentioned.numbers(self.strings(value)?);
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// `dependentRequired`, and the arrays among `dependencies`.
    fn dependent_required(
        &self,
        mentioned: &mut PropertyNames,
    ) -> Result<Vec<DependentRequired>, Unenforceable> {
        let mut all = Vec::new();
        for keyword in [Keyword::DependentRequired, Keyword::Dependencies] {
            let Some(value) = self.part(keyword) else {
                continue;
            };
            self.expect(value, Kind::Object, "must be an object")?;
            let tape = self.tape();
            for (key, child) in tape.members(value) {
                if keyword == Keyword::Dependencies && tape.node(child).kind() != Kind::Array {
                    continue;
                }
                let when = mentioned.number(tape.string(key).into_owned());
                let then = mentioned.numbers(self.strings(child)?);
                all.push(DependentRequired {
                    keyword,
                    when,
                    then,
                });
            }
        }
        Ok(all)
    }

    /// `dependentSchemas` are operations; here only their names are noted, so that their presence is seen.
    fn dependent_names(&self, mentioned: &mut PropertyNames) {
        let tape = self.tape();
        for keyword in [Keyword::DependentSchemas, Keyword::Dependencies] {
            let Some(value) = self.part(keyword) else {
                continue;
            };
            for (key, _) in tape.members(value) {
                mentioned.number(tape.string(key).into_owned());
            }
        }
    }

    fn pattern_properties(&mut self) -> Result<Vec<(u32, NodeId)>, Unenforceable> {
        let Some(value) = self.part(Keyword::PatternProperties) else {
            return Ok(Vec::new());
        };
        let tape = self.tape();
        let members: Vec<_> = tape
            .members(value)
            .map(|(key, child)| (key, tape.string(key).into_owned(), self.schema_at(child)))
            .collect();
        members
            .into_iter()
            .map(|(key, text, schema)| Ok((self.pattern(key, &text)?, schema)))
            .collect()
    }
}
