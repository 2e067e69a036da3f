//! Makes schemas, instances and texts of both, to compare engines with.
//!
//! Every schema is finite in every engine: a reference that stays on the same value only leads to later definitions,
//! one that has descended may lead anywhere. Numbers stay where a double or a 64-bit integer is exact, because the
//! oracles know no others.

mod instance;
mod keywords;
mod text;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::entropy::Entropy;

pub(crate) use instance::instance;
pub(crate) use text::text;

/// How often each keyword was generated.
pub(crate) type Coverage = BTreeMap<&'static str, usize>;

/// Member names, few enough to meet each other.
const NAMES: [&str; 9] = ["a", "b", "c", "foo", "é", "a/b", "~x", "", "a%b"];

/// Subschemas, and `unevaluated` keywords among them, in one document.
const BUDGET: usize = 40;
const UNEVALUATED: usize = 3;

const ROOT: &str = "https://example.com/root";

/// The dialects under comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Dialect {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

/// Where a subschema stands.
#[derive(Debug, Clone, Copy)]
struct SubschemaContext {
    depth: usize,
    /// The first definition that a reference may lead to while it stays on the same value.
    floor: usize,
    /// Inside another value than the root's: references may lead anywhere.
    descended: bool,
}

impl SubschemaContext {
    /// A place on the same value.
    fn in_place(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }

    /// A place on a value inside.
    fn nested(self) -> Self {
        Self {
            depth: self.depth + 1,
            floor: 0,
            descended: true,
        }
    }
}

struct Generator<'g, 'e> {
    entropy: &'g mut Entropy<'e>,
    coverage: &'g mut Coverage,
    dialect: Dialect,
    definitions: usize,
    /// Several resources in one document, told apart by `$id`, with a dynamic anchor each.
    resources: bool,
    /// Subschemas left to make, `unevaluated` keywords left to use: one oracle takes seconds to compile many of them.
    budget: usize,
    unevaluated_left: usize,
}

/// A schema document of draft-07 or later.
pub(crate) fn schema(entropy: &mut Entropy<'_>, coverage: &mut Coverage) -> Value {
    let dialect = match entropy.below(10) {
        0 => Dialect::Draft7,
        1 => Dialect::Draft201909,
        _ => Dialect::Draft202012,
    };
    document(dialect, entropy, coverage)
}

/// A schema document of draft-04 or draft-06. Keywords of later drafts are among it, which must assert nothing.
pub(crate) fn early_schema(entropy: &mut Entropy<'_>, coverage: &mut Coverage) -> Value {
    let dialect = entropy.pick(&[Dialect::Draft4, Dialect::Draft6]);
    document(dialect, entropy, coverage)
}

fn document(dialect: Dialect, entropy: &mut Entropy<'_>, coverage: &mut Coverage) -> Value {
    let resources = dialect == Dialect::Draft202012 && entropy.chance(25);
    let definitions = entropy.below(4) + usize::from(resources);
    let mut generator = Generator {
        entropy,
        coverage,
        dialect,
        definitions,
        resources,
        budget: BUDGET,
        unevaluated_left: UNEVALUATED,
    };
    generator.document()
}

impl Generator<'_, '_> {
    fn document(&mut self) -> Value {
        let root = SubschemaContext {
            depth: 0,
            floor: 0,
            descended: false,
        };
        let mut document = match self.schema(root) {
            Value::Object(document) => document,
            boolean => Map::from_iter([("allOf".to_owned(), json!([boolean]))]),
        };
        let mut definitions = Map::new();
        for number in 0..self.definitions {
            let place = SubschemaContext {
                depth: 1,
                floor: number + 1,
                descended: false,
            };
            // Each definition gets its share, however much the root has taken.
            self.budget += BUDGET / 8;
            let mut definition = self.schema(place);
            if self.resources
                && let Value::Object(definition) = &mut definition
            {
                self.put(definition, "$id", json!(format!("r{number}")));
                self.anchor(definition);
            }
            definitions.insert(format!("d{number}"), definition);
        }
        match self.dialect {
            Dialect::Draft4 | Dialect::Draft6 | Dialect::Draft7 => {
                let number = match self.dialect {
                    Dialect::Draft4 => 4,
                    Dialect::Draft6 => 6,
                    _ => 7,
                };
                document.insert(
                    "$schema".to_owned(),
                    json!(format!("http://json-schema.org/draft-0{number}/schema#")),
                );
                // A root that is a reference would mask its own definitions for a strict reader.
                if let Some(reference) = document.remove("$ref") {
                    document.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
                }
            }
            Dialect::Draft201909 => {
                document.insert(
                    "$schema".to_owned(),
                    json!("https://json-schema.org/draft/2019-09/schema"),
                );
                document.insert("$recursiveAnchor".to_owned(), json!(true));
            }
            Dialect::Draft202012 => {}
        }
        if self.resources {
            document.insert("$id".to_owned(), json!(ROOT));
            self.anchor(&mut document);
        }
        if !definitions.is_empty() {
            let container = self.container().to_owned();
            match document.get_mut(&container) {
                Some(Value::Object(known)) => known.extend(definitions),
                _ => {
                    document.insert(container, Value::Object(definitions));
                }
            }
        }
        Value::Object(document)
    }

    /// Gives a resource its `node`, so that a dynamic reference always has somewhere to start.
    fn anchor(&mut self, resource: &mut Map<String, Value>) {
        match self.entropy.below(5) {
            0 => self.put(resource, "$anchor", json!("node")),
            1 => {
                self.count("$dynamicAnchor");
                let node = json!({"$dynamicAnchor": "node", "minProperties": 1});
                resource.insert("$defs".to_owned(), json!({ "node": node }));
            }
            _ => self.put(resource, "$dynamicAnchor", json!("node")),
        }
    }

    fn container(&self) -> &'static str {
        if self.dialect <= Dialect::Draft7 {
            "definitions"
        } else {
            "$defs"
        }
    }

    fn count(&mut self, keyword: &'static str) {
        *self.coverage.entry(keyword).or_default() += 1;
    }

    fn put(&mut self, schema: &mut Map<String, Value>, keyword: &'static str, value: Value) {
        self.count(keyword);
        schema.insert(keyword.to_owned(), value);
    }

    /// A subschema.
    fn schema(&mut self, place: SubschemaContext) -> Value {
        if place.depth > 0 && self.entropy.chance(6) {
            return self.boolean();
        }
        let mut schema = Map::new();
        self.budget = self.budget.saturating_sub(1);
        let deep = place.depth >= 4 || self.budget == 0;
        let keywords = 1 + self.entropy.below(if deep { 2 } else { 4 });
        for _ in 0..keywords {
            match self.entropy.below(if deep { 3 } else { 9 }) {
                0 => self.any_type(&mut schema),
                1 => self.scalar(&mut schema),
                2 => self.reference(&mut schema, place),
                3 | 4 => self.object(&mut schema, place),
                5 | 6 => self.array(&mut schema, place),
                7 => self.logic(&mut schema, place),
                _ => self.unevaluated(&mut schema, place),
            }
        }
        Value::Object(schema)
    }

    /// A schema that takes everything, or nothing.
    fn boolean(&mut self) -> Value {
        let value = self.entropy.chance(70);
        match (self.dialect, value) {
            (Dialect::Draft4, true) => json!({}),
            (Dialect::Draft4, false) => json!({"not": {}}),
            _ => Value::Bool(value),
        }
    }

    /// What `additionalItems` or `additionalProperties` has, where draft-04 takes booleans too.
    fn additional(&mut self, place: SubschemaContext) -> Value {
        if self.dialect == Dialect::Draft4 && self.entropy.chance(40) {
            return Value::Bool(self.entropy.chance(30));
        }
        self.schema(place)
    }

    fn schemas(&mut self, place: SubschemaContext) -> Value {
        let count = 1 + self.entropy.below(3);
        (0..count).map(|_| self.schema(place)).collect()
    }

    fn reference(&mut self, schema: &mut Map<String, Value>, place: SubschemaContext) {
        if place.descended && self.resources && self.entropy.chance(40) {
            return self.put(schema, "$dynamicRef", json!("#node"));
        }
        if place.descended && self.dialect == Dialect::Draft201909 && self.entropy.chance(40) {
            return self.put(schema, "$recursiveRef", json!("#"));
        }
        let base = if self.resources { ROOT } else { "" };
        if place.descended && self.entropy.chance(20) {
            return self.put(schema, "$ref", json!(format!("{base}#")));
        }
        if place.floor < self.definitions {
            let target = place.floor + self.entropy.below(self.definitions - place.floor);
            let reference = format!("{base}#/{}/d{target}", self.container());
            self.put(schema, "$ref", json!(reference));
        }
    }
}
