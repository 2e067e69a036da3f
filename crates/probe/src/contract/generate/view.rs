//! A schema as a generator sees it: every keyword that applies to one value, gathered from the
//! schema itself, its references and one branch of each alternative. Borrowed, never copied.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::document::{Conjunction, MAX_GATHERED};

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

    pub(super) fn read(&mut self, schema: &'a Map<String, Value>) {
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
