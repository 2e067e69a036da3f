//! One keyword, or a few that belong together, at a time.

use serde_json::{Map, Value, json};

use super::instance::{any_number, any_value};
use super::{Dialect, Generator, NAMES, SubschemaContext};

/// Patterns that mean the same to an ECMA-262 engine and to the oracles' translations.
const PATTERNS: [&str; 16] = [
    "^a",
    "b",
    "^[a-c]+$",
    "o{2}",
    "^.{2,3}$",
    "^$",
    "\\d",
    "[^\\w]",
    "^\\p{L}+$",
    "é|ü",
    "(ab)*c?$",
    "a|b|foo",
    "^[^a]*$",
    "\\u0061",
    "^(?:foo|a/b)$",
    "\\.",
];

const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];

impl Generator<'_, '_> {
    pub(super) fn any_type(&mut self, schema: &mut Map<String, Value>) {
        let value = if self.entropy.chance(70) {
            json!(self.entropy.pick(&TYPES))
        } else {
            let first = self.entropy.below(TYPES.len());
            let second = (first + 1 + self.entropy.below(TYPES.len() - 1)) % TYPES.len();
            json!([TYPES[first], TYPES[second]])
        };
        self.put(schema, "type", value);
    }

    /// Assertions on values that hold no others, and on values as a whole.
    pub(super) fn scalar(&mut self, schema: &mut Map<String, Value>) {
        let small = self.entropy.below(4);
        match self.entropy.below(10) {
            0 => {
                let mut values: Vec<Value> = Vec::new();
                for _ in 0..=self.entropy.below(4) {
                    let value = any_value(self.entropy, 2);
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                self.put(schema, "enum", Value::Array(values));
            }
            1 => {
                let value = any_value(self.entropy, 2);
                self.put(schema, "const", value);
            }
            2 => {
                let bound = any_number(self.entropy);
                self.put(schema, "minimum", bound);
            }
            3 => {
                let bound = any_number(self.entropy);
                self.put(schema, "maximum", bound);
            }
            4 => self.exclusive(schema, "minimum", "exclusiveMinimum"),
            5 => self.exclusive(schema, "maximum", "exclusiveMaximum"),
            6 => {
                let divisor = self.entropy.pick(&[
                    json!(1),
                    json!(2),
                    json!(3),
                    json!(0.5),
                    json!(0.25),
                    json!(10),
                    json!(1.5),
                ]);
                self.put(schema, "multipleOf", divisor);
            }
            7 => self.put(schema, "minLength", json!(small)),
            8 => self.put(schema, "maxLength", json!(small)),
            _ => {
                let pattern = self.entropy.pick(&PATTERNS);
                self.put(schema, "pattern", json!(pattern));
            }
        }
    }

    /// An exclusive bound; in draft-04 a flag beside an inclusive one.
    fn exclusive(
        &mut self,
        schema: &mut Map<String, Value>,
        inclusive: &'static str,
        exclusive: &'static str,
    ) {
        let bound = any_number(self.entropy);
        if self.dialect == Dialect::Draft4 {
            let flag = self.entropy.chance(80);
            self.put(schema, inclusive, bound);
            self.put(schema, exclusive, json!(flag));
        } else {
            self.put(schema, exclusive, bound);
        }
    }

    fn names(&mut self) -> Value {
        let first = self.entropy.below(NAMES.len());
        if self.entropy.chance(60) {
            json!([NAMES[first]])
        } else {
            json!([NAMES[first], NAMES[(first + 1) % NAMES.len()]])
        }
    }

    fn by_name(&mut self, mut value: impl FnMut(&mut Self) -> Value) -> Value {
        let mut map = Map::new();
        for _ in 0..=self.entropy.below(3) {
            let name = self.entropy.pick(&NAMES).to_owned();
            let value = value(self);
            map.insert(name, value);
        }
        Value::Object(map)
    }

    pub(super) fn object(&mut self, schema: &mut Map<String, Value>, place: SubschemaContext) {
        let small = self.entropy.below(4);
        match self.entropy.below(11) {
            0..=2 => {
                let value = self.by_name(|this| this.schema(place.nested()));
                self.put(schema, "properties", value);
            }
            3 => {
                let value = self.names();
                self.put(schema, "required", value);
            }
            4 => {
                let value = self.additional(place.nested());
                self.put(schema, "additionalProperties", value);
            }
            5 => {
                let mut map = Map::new();
                for _ in 0..=self.entropy.below(2) {
                    let pattern = self.entropy.pick(&PATTERNS).to_owned();
                    let value = self.schema(place.nested());
                    map.insert(pattern, value);
                }
                self.put(schema, "patternProperties", Value::Object(map));
            }
            6 => {
                let value = self.schema(place.nested());
                self.put(schema, "propertyNames", value);
            }
            7 => self.put(schema, "minProperties", json!(small)),
            8 => self.put(schema, "maxProperties", json!(small)),
            9 => {
                let value = self.by_name(Self::names);
                let keyword = if self.dialect <= Dialect::Draft7 {
                    "dependencies"
                } else {
                    "dependentRequired"
                };
                self.put(schema, keyword, value);
            }
            _ => {
                let value = self.by_name(|this| this.schema(place.in_place()));
                let keyword = if self.dialect <= Dialect::Draft7 {
                    "dependencies"
                } else {
                    "dependentSchemas"
                };
                self.put(schema, keyword, value);
            }
        }
    }

    pub(super) fn array(&mut self, schema: &mut Map<String, Value>, place: SubschemaContext) {
        let small = self.entropy.below(4);
        match self.entropy.below(8) {
            0 | 1 => {
                let value = self.schema(place.nested());
                self.put(schema, "items", value);
            }
            2 | 3 => {
                let value = self.schemas(place.nested());
                if self.dialect == Dialect::Draft202012 {
                    self.put(schema, "prefixItems", value);
                } else {
                    self.put(schema, "items", value);
                    if self.entropy.chance(50) {
                        let value = self.additional(place.nested());
                        self.put(schema, "additionalItems", value);
                    }
                }
            }
            4 => {
                let value = self.schema(place.nested());
                self.put(schema, "contains", value);
                if self.dialect > Dialect::Draft7 {
                    if self.entropy.chance(40) {
                        self.put(schema, "minContains", json!(small));
                    }
                    if self.entropy.chance(40) {
                        self.put(schema, "maxContains", json!(small));
                    }
                }
            }
            5 => self.put(schema, "minItems", json!(small)),
            6 => self.put(schema, "maxItems", json!(small)),
            _ => self.put(schema, "uniqueItems", json!(true)),
        }
    }

    pub(super) fn logic(&mut self, schema: &mut Map<String, Value>, place: SubschemaContext) {
        let place = place.in_place();
        match self.entropy.below(6) {
            0 => {
                let value = self.schemas(place);
                self.put(schema, "allOf", value);
            }
            1 | 2 => {
                let value = self.schemas(place);
                self.put(schema, "anyOf", value);
            }
            3 => {
                let value = self.schemas(place);
                self.put(schema, "oneOf", value);
            }
            4 => {
                let value = self.schema(place);
                self.put(schema, "not", value);
            }
            _ => {
                let value = self.schema(place);
                self.put(schema, "if", value);
                if self.entropy.chance(80) {
                    let value = self.schema(place);
                    self.put(schema, "then", value);
                }
                if self.entropy.chance(80) {
                    let value = self.schema(place);
                    self.put(schema, "else", value);
                }
            }
        }
    }

    pub(super) fn unevaluated(&mut self, schema: &mut Map<String, Value>, place: SubschemaContext) {
        if self.dialect <= Dialect::Draft7 || self.unevaluated_left == 0 {
            return;
        }
        self.unevaluated_left -= 1;
        let value = if self.entropy.chance(60) {
            json!(false)
        } else {
            self.schema(place.nested())
        };
        let keyword = if self.entropy.chance(60) {
            "unevaluatedProperties"
        } else {
            "unevaluatedItems"
        };
        self.put(schema, keyword, value);
        // Alone it says little: give it something evaluated beside.
        self.logic(schema, place);
        if keyword == "unevaluatedProperties" {
            self.object(schema, place);
        } else {
            self.array(schema, place);
        }
    }
}
