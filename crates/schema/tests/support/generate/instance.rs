//! Instances: some that should conform, some of those broken in one place, some of no intention at all.

use serde_json::{Map, Value, json};

use super::NAMES;
use crate::conform::conforming;
use crate::entropy::Entropy;

const STRINGS: [&str; 16] = [
    "", "a", "ab", "abc", "foo", "é", "💩", "💩💩", "a/b", "~", "1", "\n", "\"\\", "e\u{301}", "ü",
    ".",
];

/// An instance to try a schema with.
pub(crate) fn instance(schema: &Value, entropy: &mut Entropy<'_>) -> Value {
    match entropy.below(10) {
        0..=1 => any_value(entropy, 4),
        2..=5 => conforming(schema, schema, entropy),
        _ => {
            let mut value = conforming(schema, schema, entropy);
            for _ in 0..=entropy.below(2) {
                break_one(&mut value, entropy);
            }
            value
        }
    }
}

/// Changes one value somewhere inside.
fn break_one(value: &mut Value, entropy: &mut Entropy<'_>) {
    match value {
        Value::Object(members) if !members.is_empty() && entropy.chance(75) => {
            let name = members
                .keys()
                .nth(entropy.below(members.len()))
                .cloned()
                .unwrap_or_default();
            match entropy.below(4) {
                0 => {
                    members.remove(&name);
                }
                1 => {
                    let added = entropy.pick(&NAMES).to_owned();
                    members.insert(added, any_value(entropy, 1));
                }
                _ => {
                    if let Some(inner) = members.get_mut(&name) {
                        break_one(inner, entropy);
                    }
                }
            }
        }
        Value::Array(items) if !items.is_empty() && entropy.chance(75) => {
            let at = entropy.below(items.len());
            match entropy.below(4) {
                0 => {
                    items.remove(at);
                }
                1 => {
                    let copy = items[at].clone();
                    items.push(copy);
                }
                _ => break_one(&mut items[at], entropy),
            }
        }
        other => *other = any_value(entropy, 2),
    }
}

/// Any value, nested no deeper than told.
pub(super) fn any_value(entropy: &mut Entropy<'_>, depth: usize) -> Value {
    match entropy.below(if depth == 0 { 5 } else { 8 }) {
        0 => json!(entropy.pick(&[Value::Null, json!(true), json!(false)])),
        1 | 2 => json!(entropy.pick(&STRINGS)),
        3 | 4 => any_number(entropy),
        5 => (0..entropy.below(4))
            .map(|_| any_value(entropy, depth - 1))
            .collect(),
        _ => {
            let mut members = Map::new();
            for _ in 0..entropy.below(4) {
                let name = entropy.pick(&NAMES).to_owned();
                members.insert(name, any_value(entropy, depth - 1));
            }
            Value::Object(members)
        }
    }
}

/// Any number that a double or a 64-bit integer holds exactly.
pub(super) fn any_number(entropy: &mut Entropy<'_>) -> Value {
    match entropy.below(5) {
        0 | 1 => json!(i64::try_from(entropy.below(7)).unwrap_or(0) - 2),
        2 => entropy.pick(&[
            json!(0.5),
            json!(1.5),
            json!(-0.25),
            json!(2.0),
            json!(1e2),
            json!(0.1),
            json!(3.75),
        ]),
        3 => json!(entropy.below(100)),
        _ => entropy.pick(&[
            json!(9_007_199_254_740_993_i64),
            json!(9_007_199_254_740_992_i64),
            json!(-9_007_199_254_740_993_i64),
            json!(i64::MAX),
            json!(i64::MIN),
            json!(u64::MAX),
            json!(1e20),
            json!(1e300),
            json!(-1e300),
            json!(1e-300),
        ]),
    }
}
