//! A schema as a generator sees it: every keyword that applies to one value, gathered from the
//! schema itself, its references and one branch of each alternative. Borrowed, never copied, and
//! bounded in how many subschemas are gathered.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::random::Random;

/// Subschemas gathered for one value, at most.
const MAX_GATHERED: usize = 128;

/// How to choose where a schema leaves a choice.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    /// As little as possible, with the n-th way through alternatives.
    Minimal(usize),
    /// As much as is reasonable, likewise.
    Maximal(usize),
    /// Anything, from this seed.
    Random(u64),
}

impl Choice {
    pub(super) fn branch(self, branches: usize, turn: usize) -> usize {
        match self {
            Self::Minimal(nth) | Self::Maximal(nth) => nth.checked_rem(branches).unwrap_or(0),
            Self::Random(seed) => Random::new(seed ^ turn as u64).below(branches),
        }
    }

    /// The same kind of choice for a value inside.
    pub(super) fn inside(self, salt: usize) -> Self {
        match self {
            Self::Random(seed) => {
                let salt = (salt as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9);
                Self::Random(Random::new(seed ^ salt).next())
            }
            other => other,
        }
    }
}

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

/// The keywords that apply to one value.
#[derive(Clone, Debug, Default)]
pub(super) struct View<'a> {
    /// `None`: any type.
    pub(super) types: Option<Vec<&'a str>>,
    pub(super) consts: Vec<&'a Value>,
    pub(super) enums: Option<&'a Vec<Value>>,
    /// What the author suggests: `default`, `examples`.
    pub(super) suggested: Vec<&'a Value>,
    pub(super) properties: BTreeMap<&'a str, Conjunction<'a>>,
    pub(super) required: BTreeSet<&'a str>,
    pub(super) dependent: Vec<(&'a str, &'a Vec<Value>)>,
    pub(super) additional: Conjunction<'a>,
    pub(super) property_names: Conjunction<'a>,
    pub(super) items: Conjunction<'a>,
    pub(super) prefix: Vec<Conjunction<'a>>,
    pub(super) contains: Conjunction<'a>,
    pub(super) unique: bool,
    pub(super) patterns: Vec<&'a str>,
    pub(super) format: Option<&'a str>,
    /// The tightest of each bound, by keyword.
    pub(super) bounds: BTreeMap<&'static str, &'a Value>,
    /// Branches of its widest alternative.
    pub(super) branches: usize,
    /// The schemas it was gathered from.
    pub(super) origin: Conjunction<'a>,
}

/// Bounds of which the greatest is the tightest.
const LOWER: [&str; 5] = [
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];
/// Bounds of which the least is the tightest.
const UPPER: [&str; 6] = [
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
    "multipleOf",
];

impl<'a> View<'a> {
    /// A bound as a number.
    pub(super) fn bound(&self, keyword: &str) -> Option<f64> {
        self.bounds.get(keyword).and_then(|value| value.as_f64())
    }

    /// A bound as a count; what no memory can hold counts as absent.
    pub(super) fn count(&self, keyword: &str) -> Option<usize> {
        let bound = self.bound(keyword)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a small count"
        )]
        let count = (0.0..1e9).contains(&bound).then_some(bound as usize);
        count
    }

    pub(super) fn allows(&self, name: &str) -> bool {
        self.types.as_ref().is_none_or(|types| {
            types.contains(&name) || (name == "integer" && types.contains(&"number"))
        })
    }

    fn read(&mut self, schema: &'a Map<String, Value>) {
        let text = |keyword| schema.get(keyword).and_then(Value::as_str);
        let list = |keyword| schema.get(keyword).and_then(Value::as_array);
        let object = |keyword| schema.get(keyword).and_then(Value::as_object);
        self.read_types(schema);
        self.consts.extend(schema.get("const"));
        self.enums = match (self.enums, list("enum")) {
            (Some(one), Some(other)) if one.len() <= other.len() => Some(one),
            (one, other) => other.or(one),
        };
        self.suggested
            .extend(list("examples").into_iter().flatten());
        self.suggested.extend(schema.get("default"));
        for (name, property) in object("properties").into_iter().flatten() {
            self.properties.entry(name).or_default().push(property);
        }
        self.required.extend(
            list("required")
                .into_iter()
                .flatten()
                .filter_map(Value::as_str),
        );
        for (name, others) in object("dependentRequired").into_iter().flatten() {
            self.dependent
                .extend(others.as_array().map(|others| (name.as_str(), others)));
        }
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            self.additional.extend(schema.get(keyword));
        }
        self.property_names.extend(schema.get("propertyNames"));
        self.contains.extend(schema.get("contains"));
        self.unique |= schema
            .get("uniqueItems")
            .and_then(Value::as_bool)
            .unwrap_or(false);
        self.patterns.extend(text("pattern"));
        self.format = self.format.or(text("format"));
        self.read_items(schema);
        self.read_bounds(schema);
    }

    fn read_types(&mut self, schema: &'a Map<String, Value>) {
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => return,
        };
        self.types = Some(match &self.types {
            None => types,
            Some(known) => {
                let both = |name: &&str| {
                    known.contains(name) || (*name == "integer" && known.contains(&"number"))
                };
                let narrowed: Vec<&str> = types.iter().copied().filter(|name| both(name)).collect();
                let integer = types.contains(&"number") && known.contains(&"integer");
                if narrowed.is_empty() && integer {
                    vec!["integer"]
                } else {
                    narrowed
                }
            }
        });
    }

    fn read_items(&mut self, schema: &'a Map<String, Value>) {
        let tuple = match schema.get("items") {
            Some(Value::Array(tuple)) => {
                self.items.extend(schema.get("additionalItems"));
                Some(tuple)
            }
            items => {
                self.items.extend(items);
                schema.get("prefixItems").and_then(Value::as_array)
            }
        };
        for (index, item) in tuple.into_iter().flatten().enumerate().take(MAX_GATHERED) {
            if index == self.prefix.len() {
                self.prefix.push(Vec::new());
            }
            if let Some(place) = self.prefix.get_mut(index) {
                place.push(item);
            }
        }
    }

    fn read_bounds(&mut self, schema: &'a Map<String, Value>) {
        let tighter = |keyword: &'static str, upper: bool, bounds: &mut BTreeMap<_, &'a Value>| {
            let Some(found) = schema.get(keyword).filter(|value| value.is_number()) else {
                return;
            };
            let known = bounds.get(keyword).and_then(|known| known.as_f64());
            let (Some(new), Some(old)) = (found.as_f64(), known) else {
                bounds.insert(keyword, found);
                return;
            };
            if (upper && new < old) || (!upper && new > old) {
                bounds.insert(keyword, found);
            }
        };
        for keyword in LOWER {
            tighter(keyword, false, &mut self.bounds);
        }
        for keyword in UPPER {
            tighter(keyword, true, &mut self.bounds);
        }
    }
}
