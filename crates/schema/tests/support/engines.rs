//! One schema in three engines: this one, `jsonschema` and `boon`.

use countersign_schema::{Fuel, Limits, Schema, Verdict};
use countersign_tape::Tape;
use serde_json::Value;

use crate::reading::is_settled_by_reading;

/// What an engine says of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EngineVerdict {
    Valid,
    Invalid,
    Refused,
}

impl From<bool> for EngineVerdict {
    fn from(valid: bool) -> Self {
        if valid { Self::Valid } else { Self::Invalid }
    }
}

/// A schema in three engines.
pub(crate) struct Engines {
    ours: Option<countersign_schema::Schema>,
    jsonschema: Option<jsonschema::Validator>,
    boon: Option<(boon::Schemas, boon::SchemaIndex)>,
}

impl Engines {
    pub(crate) fn compile(text: &str) -> Self {
        let value: Value = serde_json::from_str(text).expect("the generator writes JSON");
        Self {
            ours: countersign_schema::compile(text.as_bytes(), &Limits::default()).ok(),
            jsonschema: jsonschema::options()
                .should_validate_formats(false)
                .build(&value)
                .ok(),
            boon: compile_boon(value),
        }
    }

    pub(crate) fn judge(&self, instance: &str) -> [EngineVerdict; 3] {
        let value: Value = serde_json::from_str(instance).expect("the generator writes JSON");
        let ours = self
            .ours
            .as_ref()
            .map(|schema| both_faces(schema, instance));
        [
            match ours {
                Some(Verdict::Valid) => EngineVerdict::Valid,
                Some(Verdict::Invalid) => EngineVerdict::Invalid,
                Some(Verdict::Exhausted) | None => EngineVerdict::Refused,
            },
            self.jsonschema
                .as_ref()
                .map_or(EngineVerdict::Refused, |schema| {
                    schema.is_valid(&value).into()
                }),
            self.boon
                .as_ref()
                .map_or(EngineVerdict::Refused, |(schemas, index)| {
                    schemas.validate(&value, *index).is_ok().into()
                }),
        ]
    }
}

fn compile_boon(value: Value) -> Option<(boon::Schemas, boon::SchemaIndex)> {
    const PLACE: &str = "https://example.com/root";
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource(PLACE, value).ok()?;
    let index = compiler.compile(PLACE, &mut schemas).ok()?;
    Some((schemas, index))
}

/// Keywords that do arithmetic.
const NUMERIC: [&str; 5] = [
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
];

/// Differences that are known, and whose fault they are. In all but one of them this engine agrees with one oracle.
pub(crate) fn documented(
    schema: &Value,
    instance: &Value,
    said: [EngineVerdict; 3],
) -> Option<&'static str> {
    let [ours, jsonschema, boon] = said;
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or("");
    let large = || holds(schema, &is_large) || holds(instance, &is_large);
    let has = |keyword: &str| holds(schema, &|value| value.get(keyword).is_some());
    if ours == jsonschema {
        if large() {
            return Some("boon compares numbers beyond 2^53 as doubles");
        }
        if dialect.contains("draft-0") && holds(schema, &is_masked) {
            return Some("boon applies siblings of $ref up to draft-07");
        }
        if dialect.contains("draft-04") && has("type") && holds(instance, &is_integral_double) {
            return Some("boon takes 1.0 for an integer in draft-04");
        }
    } else if ours == boon {
        if dialect.contains("2019-09") && has("contains") && has("unevaluatedItems") {
            return Some("jsonschema counts contains as evaluating in 2019-09");
        }
        if has("multipleOf") && large() {
            return Some("jsonschema divides numbers beyond 2^53 as doubles");
        }
    } else if large() && NUMERIC.iter().any(|keyword| has(keyword)) {
        return Some("both oracles take the double nearest to a number beyond 2^53");
    }
    None
}

/// A number that not every double near it is different from.
fn is_large(value: &Value) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_f64().is_some_and(|number| number.abs() >= EXACT)
}

/// A number written with a fraction or an exponent that is an integer nevertheless.
fn is_integral_double(value: &Value) -> bool {
    value.is_f64() && value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// A reference with keywords beside it.
fn is_masked(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|schema| schema.contains_key("$ref") && schema.len() > 1)
}

/// Whether a value, or any inside it, is as asked.
fn holds(value: &Value, is: &dyn Fn(&Value) -> bool) -> bool {
    is(value)
        || match value {
            Value::Array(items) => items.iter().any(|item| holds(item, is)),
            Value::Object(members) => members.values().any(|member| holds(member, is)),
            _ => false,
        }
}

/// The verdict of this engine, explained or not.
fn both_faces(schema: &Schema, instance: &str) -> Verdict {
    let tape = Tape::parse(instance.as_bytes(), &countersign_tape::Limits::default())
        .expect("the generator writes JSON");
    let quick = schema.is_valid(&tape, &mut Fuel::for_instance(&tape, 1.0));
    let explained = schema.validate(&tape, &mut Fuel::for_instance(&tape, 1.0));
    assert_eq!(
        quick,
        explained.verdict(),
        "is_valid and validate disagree on {instance}"
    );
    is_settled_by_reading(schema, instance, &tape, quick);
    quick
}
