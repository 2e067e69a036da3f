//! Makes instances that a schema is likely to take.
//!
//! A guess, not a solver: a test that uses an instance must ask an oracle whether it conforms.

use serde_json::{Map, Value, json};

use crate::entropy::Entropy;

/// Deeper than this, only what is required is filled in.
const DEEP: usize = 6;
/// References and alternatives followed in a row.
const HOPS: usize = 24;
/// Values of one instance.
const MOST_VALUES: usize = 400;

/// Strings among which one matches most patterns and formats that real schemas use.
const SAMPLES: [&str; 24] = [
    "a",
    "abc",
    "",
    "A",
    "A1",
    "1",
    "42",
    "12345",
    "AS1234",
    "2024-05-06",
    "2024-05-06T07:08:09Z",
    "12:30:00",
    "07:08",
    "https://example.com/a",
    "a@example.com",
    "example.com",
    "192.0.2.1",
    "2001:db8::1",
    "123e4567-e89b-12d3-a456-426614174000",
    "#a1b2c3",
    "a1b2c3",
    "/a/b",
    "a-b_c.d",
    "main",
];

/// An instance for a schema, within the document that its references point into.
pub(crate) fn conforming(document: &Value, schema: &Value, entropy: &mut Entropy<'_>) -> Value {
    let mut maker = InstanceGenerator {
        document,
        entropy,
        left: MOST_VALUES,
    };
    maker.fill(schema, 0)
}

struct InstanceGenerator<'m, 'e> {
    document: &'m Value,
    entropy: &'m mut Entropy<'e>,
    /// Values still to be made. What a schema requires may double at every level.
    left: usize,
}

impl InstanceGenerator<'_, '_> {
    fn fill(&mut self, schema: &Value, depth: usize) -> Value {
        let Value::Object(schema) = schema else {
            return json!(self.entropy.below(3));
        };
        self.left = self.left.saturating_sub(1);
        if depth > 2 * DEEP || self.left == 0 {
            return Value::Null;
        }
        let schema = flatten(self.document, schema, self.entropy, HOPS);
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = schema.get("enum")
            && !values.is_empty()
        {
            return self.entropy.pick(values);
        }
        match type_of(&schema, self.entropy).as_str() {
            "object" => self.object(&schema, depth),
            "array" => self.array(&schema, depth),
            "string" => Value::String(string(&schema, self.entropy)),
            "integer" => number(&schema, self.entropy, true),
            "number" => number(&schema, self.entropy, false),
            "boolean" => Value::Bool(self.entropy.chance(50)),
            _ => Value::Null,
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Value {
        let empty = Map::new();
        let properties = schema
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let mut made = Map::new();
        for (name, schema) in properties {
            let wanted =
                required.contains(&name.as_str()) || (depth < DEEP && self.entropy.chance(60));
            if wanted && *schema != Value::Bool(false) {
                made.insert(name.clone(), self.fill(schema, depth + 1));
            }
        }
        let additional = schema.get("additionalProperties").unwrap_or(&Value::Null);
        for name in required {
            if !made.contains_key(name) {
                made.insert(name.to_owned(), self.fill(additional, depth + 1));
            }
        }
        if additional.is_object() && depth < DEEP && self.entropy.chance(50) {
            made.insert("extra".to_owned(), self.fill(additional, depth + 1));
        }
        let least = bound(schema, "minProperties").min(8);
        while made.len() < least {
            made.insert(format!("p{}", made.len()), self.fill(additional, depth + 1));
        }
        Value::Object(made)
    }

    fn array(&mut self, schema: &Map<String, Value>, depth: usize) -> Value {
        let mut made: Vec<Value> = Vec::new();
        let tuple = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(Value::Array(tuple)), _) | (None, Some(Value::Array(tuple))) => tuple.as_slice(),
            _ => &[],
        };
        for schema in tuple {
            if *schema != Value::Bool(false) && depth < DEEP {
                made.push(self.fill(schema, depth + 1));
            }
        }
        let least = bound(schema, "minItems").min(12);
        let most = schema
            .get("maxItems")
            .and_then(Value::as_u64)
            .map_or(usize::MAX, |most| {
                usize::try_from(most).unwrap_or(usize::MAX)
            });
        let extra = if depth < DEEP {
            self.entropy.below(4)
        } else {
            0
        };
        let items = schema.get("items").unwrap_or(&Value::Null);
        let wanted = if *items == Value::Bool(false) {
            made.len()
        } else {
            (made.len() + extra).max(least).min(most)
        };
        while made.len() < wanted {
            made.push(self.fill(items, depth + 1));
        }
        if let Some(contains) = schema.get("contains")
            && depth < DEEP
        {
            made.push(self.fill(contains, depth + 1));
        }
        Value::Array(made)
    }
}

/// The schema with its references, `allOf` and one branch of each alternative merged in.
fn flatten(
    document: &Value,
    schema: &Map<String, Value>,
    entropy: &mut Entropy<'_>,
    hops: usize,
) -> Map<String, Value> {
    let mut merged = schema.clone();
    let mut parts: Vec<Value> = Vec::new();
    for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
        if let Some(Value::String(reference)) = merged.remove(keyword) {
            parts.extend(resolve(document, &reference));
        }
    }
    if let Some(Value::Array(all)) = merged.remove("allOf") {
        parts.extend(all);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = merged.remove(keyword)
            && !branches.is_empty()
        {
            parts.push(entropy.pick(&branches));
        }
    }
    let condition = merged.remove("if");
    let (then, otherwise) = (merged.remove("then"), merged.remove("else"));
    if let Some(condition) = condition {
        if entropy.chance(50) {
            parts.push(condition);
            parts.extend(then);
        } else {
            parts.extend(otherwise);
        }
    }
    if hops > 0 {
        for part in parts {
            if let Value::Object(part) = part {
                merge(&mut merged, flatten(document, &part, entropy, hops - 1));
            }
        }
    }
    merged
}

fn merge(into: &mut Map<String, Value>, part: Map<String, Value>) {
    for (keyword, value) in part {
        match (into.get_mut(&keyword), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (Some(Value::Array(known)), Value::Array(more)) if keyword == "required" => {
                known.extend(more);
            }
            (_, value) => {
                into.insert(keyword, value);
            }
        }
    }
}

/// Follows a pointer in the document; an anchor is looked up in the definitions.
fn resolve(document: &Value, reference: &str) -> Option<Value> {
    let (_, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    if fragment.starts_with('/') || fragment.is_empty() {
        return document.pointer(fragment).cloned();
    }
    let definitions = document.get("$defs")?.as_object()?;
    definitions
        .values()
        .find(|schema| {
            schema.get("$dynamicAnchor").or(schema.get("$anchor")) == Some(&json!(fragment))
        })
        .cloned()
}

fn type_of(schema: &Map<String, Value>, entropy: &mut Entropy<'_>) -> String {
    match schema.get("type") {
        Some(Value::String(name)) => return name.clone(),
        Some(Value::Array(names)) if !names.is_empty() => {
            return entropy.pick(names).as_str().unwrap_or("null").to_owned();
        }
        _ => {}
    }
    let hints = [
        ("properties", "object"),
        ("required", "object"),
        ("patternProperties", "object"),
        ("additionalProperties", "object"),
        ("unevaluatedProperties", "object"),
        ("propertyNames", "object"),
        ("minProperties", "object"),
        ("dependentRequired", "object"),
        ("dependentSchemas", "object"),
        ("items", "array"),
        ("prefixItems", "array"),
        ("contains", "array"),
        ("minItems", "array"),
        ("uniqueItems", "array"),
        ("unevaluatedItems", "array"),
        ("pattern", "string"),
        ("minLength", "string"),
        ("maxLength", "string"),
        ("multipleOf", "number"),
        ("minimum", "number"),
        ("maximum", "number"),
    ];
    let fitting: Vec<&str> = hints
        .iter()
        .filter(|(keyword, _)| schema.contains_key(*keyword))
        .map(|(_, name)| *name)
        .collect();
    if fitting.is_empty() {
        entropy.pick(&["object", "array", "string", "number", "boolean", "null"])
    } else {
        entropy.pick(&fitting)
    }
    .to_owned()
}

fn string(schema: &Map<String, Value>, entropy: &mut Entropy<'_>) -> String {
    let least = bound(schema, "minLength").min(4096);
    let most = schema
        .get("maxLength")
        .and_then(Value::as_u64)
        .map_or(usize::MAX, |most| {
            usize::try_from(most).unwrap_or(usize::MAX)
        });
    let format = match schema.get("format").and_then(Value::as_str) {
        Some("date") => Some("2024-05-06"),
        Some("date-time") => Some("2024-05-06T07:08:09Z"),
        Some("uri" | "uri-reference" | "url") => Some("https://example.com/a"),
        Some("email") => Some("a@example.com"),
        Some("uuid") => Some("123e4567-e89b-12d3-a456-426614174000"),
        _ => None,
    };
    let mut text = format.map_or_else(|| entropy.pick(&SAMPLES).to_owned(), str::to_owned);
    while text.chars().count() < least {
        text.push('a');
    }
    text.chars().take(most).collect()
}

fn number(schema: &Map<String, Value>, entropy: &mut Entropy<'_>, integer: bool) -> Value {
    let at = |keyword| schema.get(keyword).and_then(Value::as_f64);
    let offset = f64::from(u8::try_from(entropy.below(4)).unwrap_or(0));
    let mut value = match (
        at("minimum"),
        at("exclusiveMinimum"),
        at("maximum"),
        at("exclusiveMaximum"),
    ) {
        (Some(least), _, Some(most), _) => (least + offset).min(most),
        (Some(least), ..) => least + offset,
        (_, Some(least), Some(most), _) => (least + 1.0).min(most),
        (_, Some(least), ..) => least + 1.0 + offset,
        (_, _, Some(most), _) => most - offset,
        (.., Some(most)) => most - 1.0 - offset,
        _ => offset,
    };
    if let Some(step) = at("multipleOf") {
        value = (value / step).ceil() * step;
    }
    if integer || (value.fract() == 0.0 && entropy.chance(50)) {
        #[expect(clippy::cast_possible_truncation, reason = "a guess may be wrong")]
        let whole = value.ceil() as i64;
        return json!(whole);
    }
    json!(value)
}

fn bound(schema: &Map<String, Value>, keyword: &str) -> usize {
    schema
        .get(keyword)
        .and_then(Value::as_u64)
        .map_or(0, |bound| usize::try_from(bound).unwrap_or(usize::MAX))
}
