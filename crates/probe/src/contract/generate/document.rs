//! The document a schema's references lead into: it finds what applies to one value, through
//! references and one branch of each alternative. Bounded in how many subschemas are gathered.

use serde_json::{Map, Value};

use super::choice::Choice;
use super::view::View;

/// Subschemas gathered for one value, at most.
pub(super) const MAX_GATHERED: usize = 128;

/// Several schemas that all apply to one value.
pub(super) type Conjunction<'a> = Vec<&'a Value>;

/// The document a schema's references lead into.
#[derive(Debug)]
pub(super) struct Document<'a> {
    root: &'a Value,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root }
    }

    pub(super) fn root(&self) -> Conjunction<'a> {
        vec![self.root]
    }

    /// A reference within the document, by pointer or by anchor.
    fn resolve(&self, reference: &str) -> Option<&'a Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self
                .root
                .pointer(&fragment.replace("%25", "%").replace("%24", "$"));
        }
        let definitions = ["$defs", "definitions"]
            .into_iter()
            .filter_map(|name| self.root.get(name));
        let mut named = definitions
            .filter_map(Value::as_object)
            .flat_map(Map::values);
        named.find(|schema| schema.get("$anchor").and_then(Value::as_str) == Some(fragment))
    }

    /// Everything that applies to one value; `None` if nothing can satisfy it or it is too much.
    pub(super) fn view(&self, schemas: &[&'a Value], choice: Choice) -> Option<View<'a>> {
        let mut view = View {
            origin: schemas.to_vec(),
            ..View::default()
        };
        let mut pending: Vec<&'a Value> = schemas.iter().rev().copied().collect();
        let mut gathered = 0;
        while let Some(schema) = pending.pop() {
            gathered += 1;
            if gathered > MAX_GATHERED {
                return None;
            }
            match schema {
                Value::Bool(true) => {}
                Value::Object(schema) => {
                    view.read(schema);
                    self.follow(schema, choice, &mut view, &mut pending)?;
                }
                _ => return None,
            }
        }
        Some(view)
    }

    /// References, conjunctions, and one way through each alternative.
    fn follow(
        &self,
        schema: &'a Map<String, Value>,
        choice: Choice,
        view: &mut View<'a>,
        pending: &mut Vec<&'a Value>,
    ) -> Option<()> {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(reference) = schema.get(keyword).and_then(Value::as_str) {
                pending.push(self.resolve(reference)?);
            }
        }
        if let Some(Value::Array(all)) = schema.get("allOf") {
            pending.extend(all.iter().rev());
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = schema.get(keyword) {
                view.branches = view.branches.max(branches.len());
                let turn = pending.len();
                pending.push(branches.get(choice.branch(branches.len(), turn))?);
            }
        }
        if let Some(condition) = schema.get("if") {
            view.branches = view.branches.max(2);
            let (then, otherwise) = (schema.get("then"), schema.get("else"));
            if choice.branch(2, pending.len()) == 0 {
                pending.push(condition);
                pending.extend(then);
            } else {
                pending.extend(otherwise);
            }
        }
        Some(())
    }
}
