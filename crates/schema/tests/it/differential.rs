//! Generated schemas and instances, judged by three engines that were written apart.
//!
//! `jsonschema` and `boon` are the oracles. A verdict that differs from either is a failure, unless it is one of the
//! documented disagreements.

use std::collections::BTreeMap;

use countersign_schema::Limits;
use serde_json::Value;

use crate::engines::{EngineVerdict, Engines, documented};
use crate::entropy::Entropy;
use crate::generate::{self, Coverage};
use crate::support::{on_small_stack, say};

const SCHEMAS: u64 = 4_000;
const INSTANCES: usize = 6;
/// Disagreements shown before the comparison is given up.
const MOST_FAULTS: usize = 8;

/// Keywords the generator must not lose sight of.
const KEYWORDS: [&str; 36] = [
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveRef",
    "$ref",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "minContains",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// The same for draft-04 and draft-06. Some of these assert something in neither of them, or in one only.
const EARLY_KEYWORDS: [&str; 25] = [
    "$ref",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependencies",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "items",
    "maxItems",
    "maximum",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "propertyNames",
    "type",
    "uniqueItems",
];

/// Whether a smaller pair shows the same disagreement. What this engine refuses is not shown to the others: a loop of
/// references would be the end of the process.
fn shows(said: [EngineVerdict; 3], schema: &Value, instance: &Value) -> bool {
    let text = schema.to_string();
    let refused = countersign_schema::compile(text.as_bytes(), &Limits::default()).is_err();
    refused == (said[0] == EngineVerdict::Refused)
        && Engines::compile(&text).judge(&instance.to_string()) == said
}

/// What a comparison came to.
#[derive(Default)]
struct Comparison {
    coverage: Coverage,
    /// Pairs by verdict, or by the documented disagreement.
    counts: BTreeMap<String, usize>,
    pairs: usize,
    faults: Vec<String>,
}

impl Comparison {
    /// Judges generated schemas, each a value and its text.
    fn of(grow: fn(&mut Entropy<'_>, &mut Coverage) -> (Value, String)) -> Self {
        let mut comparison = Self::default();
        for seed in 0..SCHEMAS {
            let mut entropy = Entropy::Seed(seed);
            let (schema, text) = grow(&mut entropy, &mut comparison.coverage);
            let engines = Engines::compile(&text);
            for _ in 0..INSTANCES {
                let value = generate::instance(&schema, &mut entropy);
                let instance = generate::text(&value, &mut entropy);
                let said = engines.judge(&instance);
                comparison.count(said, (&schema, &text), &instance, seed);
            }
            if comparison.faults.len() >= MOST_FAULTS {
                break;
            }
        }
        comparison
    }

    fn count(
        &mut self,
        said: [EngineVerdict; 3],
        (schema, text): (&Value, &str),
        instance: &str,
        seed: u64,
    ) {
        self.pairs += 1;
        let value: Value = serde_json::from_str(instance).expect("the generator writes JSON");
        let note = if said.iter().all(|one| *one == said[0]) {
            format!("{:?}", said[0])
        } else if let Some(reason) = documented(schema, &value, said) {
            reason.to_owned()
        } else {
            self.faults.push(format!(
                "ours, jsonschema, boon: {said:?}, seed {seed}\n{}\nschema {text}\ninstance {instance}",
                shrunk(schema.clone(), value, said)
            ));
            "unexplained".to_owned()
        };
        *self.counts.entry(note).or_default() += 1;
    }

    fn counted(&self, note: &str) -> usize {
        self.counts.get(note).copied().unwrap_or(0)
    }

    /// Fails on a disagreement, and where the comparison would prove little. `excused` in a thousand pairs may be
    /// documented disagreements.
    fn check(&self, name: &str, keywords: &[&str], excused: usize) {
        let pairs = self.pairs;
        say(format_args!("{name}: {pairs} pairs, {:?}", self.counts));
        say(format_args!("{name}: keywords {:?}", self.coverage));
        assert!(self.faults.is_empty(), "{}", self.faults.join("\n\n"));
        assert!(pairs >= 20_000);
        for keyword in keywords {
            assert!(
                self.coverage.get(keyword).is_some_and(|count| *count >= 20),
                "{keyword} is hardly generated"
            );
        }
        // A comparison in which everything is refused by a bare `type` would prove nothing.
        let (valid, invalid) = (self.counted("Valid"), self.counted("Invalid"));
        assert!(valid > pairs / 5 && invalid > pairs / 5);
        assert!(
            (valid + invalid) * 1_000 > pairs * (1_000 - excused),
            "the list of differences excuses too much"
        );
        assert!(self.counted("Refused") < pairs / 100);
    }
}

#[test]
fn three_engines_agree() {
    on_small_stack("differential", || {
        let comparison = Comparison::of(|entropy, coverage| {
            let schema = generate::schema(entropy, coverage);
            let text = generate::text(&schema, entropy);
            (schema, text)
        });
        comparison.check("differential", &KEYWORDS, 5);
    });
}

#[test]
fn three_engines_agree_on_drafts_4_and_6() {
    on_small_stack("differential, early drafts", || {
        let comparison = Comparison::of(|entropy, coverage| {
            let schema = generate::early_schema(entropy, coverage);
            // As it is: in draft-04 a count must not be written as `2.0`.
            let text = schema.to_string();
            (schema, text)
        });
        comparison.check("differential, early drafts", &EARLY_KEYWORDS, 10);
    });
}

#[test]
fn generators_end_when_their_choices_do() {
    for length in 0..200 {
        let bytes: Vec<u8> = (0..length).map(|n: u8| n.wrapping_mul(151)).collect();
        let mut entropy = Entropy::Bytes(&bytes);
        let schema = generate::schema(&mut entropy, &mut Coverage::new());
        let instance = generate::instance(&schema, &mut entropy);
        let text = generate::text(&instance, &mut entropy);
        let read: Value = serde_json::from_str(&text).expect("the generator writes JSON");
        assert!(
            read == instance || text.contains(['.', 'e', 'E']),
            "{text} is not {instance}"
        );
    }
}

/// The pair with everything removed that the same disagreement does not need.
fn shrunk(mut schema: Value, mut instance: Value, said: [EngineVerdict; 3]) -> String {
    if !shows(said, &schema, &instance) {
        return "(the plain text of the same pair does not show it)".to_owned();
    }
    loop {
        let smaller = reductions(&schema)
            .into_iter()
            .find(|candidate| shows(said, candidate, &instance));
        if let Some(smaller) = smaller {
            schema = smaller;
            continue;
        }
        let smaller = reductions(&instance)
            .into_iter()
            .find(|candidate| shows(said, &schema, candidate));
        match smaller {
            Some(smaller) => instance = smaller,
            None => break,
        }
    }
    format!("shrunk: schema {schema}, instance {instance}")
}

/// Every value that lacks one member or item, somewhere.
fn reductions(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let mut without = members.clone();
                without.remove(name);
                all.push(Value::Object(without));
                for smaller in reductions(inner) {
                    let mut with = members.clone();
                    with.insert(name.clone(), smaller);
                    all.push(Value::Object(with));
                }
            }
        }
        Value::Array(items) => {
            for at in 0..items.len() {
                let mut without = items.clone();
                without.remove(at);
                all.push(Value::Array(without));
                for smaller in reductions(&items[at]) {
                    let mut with = items.clone();
                    with[at] = smaller;
                    all.push(Value::Array(with));
                }
            }
        }
        _ => {}
    }
    all
}
