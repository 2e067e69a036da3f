//! Smaller arguments that may show the same thing. Only candidates are made here, each smaller
//! than what it came from, so that asking again and again comes to an end.

use serde_json::{Map, Value};

/// How deep values are made smaller; what lies deeper is only taken away whole.
const MAX_DEPTH: usize = 6;
/// Candidates for one round.
const MAX_CANDIDATES: usize = 256;

/// Smaller versions of a value, the smallest first.
pub(crate) fn candidates(value: &Value) -> Vec<Value> {
    let mut made = Vec::new();
    smaller(value, 0, &mut made);
    made.retain(|one| weight(one) < weight(value));
    made.sort_by_key(weight);
    made.dedup();
    made.truncate(MAX_CANDIDATES);
    made
}

/// A measure that every candidate lowers.
pub(crate) fn weight(value: &Value) -> usize {
    let mut total = 0;
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        total += match value {
            Value::Null => 1,
            Value::Bool(set) => 1 + usize::from(*set),
            Value::Number(number) => magnitude(number.as_f64().unwrap_or_default()),
            // A plain letter weighs less than any other.
            Value::String(text) => {
                1 + text
                    .chars()
                    .map(|letter| if letter == 'a' { 2 } else { 3 })
                    .sum::<usize>()
            }
            Value::Array(items) => {
                pending.extend(items);
                2 + items.len()
            }
            Value::Object(members) => {
                pending.extend(members.values());
                2 + members.keys().map(|key| key.len() + 2).sum::<usize>()
            }
        };
    }
    total
}

/// Numbers weigh by their distance from zero, a little more below it and between whole numbers.
fn magnitude(number: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded, and never negative"
    )]
    let whole = number.abs().ceil().min(1e9) as usize;
    1 + whole * 4 + usize::from(number < 0.0) + 2 * usize::from(number.fract() != 0.0)
}

fn smaller(value: &Value, depth: usize, made: &mut Vec<Value>) {
    match value {
        Value::Null => {}
        Value::Bool(_) => made.push(Value::Bool(false)),
        Value::Number(number) => numbers(number, made),
        Value::String(text) => strings(text, made),
        Value::Array(items) => arrays(items, depth, made),
        Value::Object(members) => objects(members, depth, made),
    }
}

fn numbers(number: &serde_json::Number, made: &mut Vec<Value>) {
    made.push(Value::from(0));
    if let Some(whole) = number.as_i64() {
        made.extend([
            Value::from(whole / 2),
            Value::from(whole - whole.signum()),
            Value::from(whole.wrapping_neg()),
        ]);
    } else if let Some(real) = number.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "a rough neighbour will do")]
        made.extend([Value::from(real.trunc() as i64), Value::from(real / 2.0)]);
    }
}

fn strings(text: &str, made: &mut Vec<Value>) {
    let letters: Vec<char> = text.chars().collect();
    let part = |letters: &[char]| Value::String(letters.iter().collect());
    let half = letters.len() / 2;
    made.push(Value::from(""));
    made.push(Value::from("a".repeat(letters.len())));
    made.push(part(letters.get(..half).unwrap_or_default()));
    made.push(part(letters.get(half..).unwrap_or_default()));
    if letters.len() <= 64 {
        for index in 0..letters.len() {
            let mut without = letters.clone();
            without.remove(index);
            made.push(part(&without));
        }
    } else if let Some((_, rest)) = letters.split_last() {
        made.push(part(rest));
    }
}

fn arrays(items: &[Value], depth: usize, made: &mut Vec<Value>) {
    made.push(Value::Array(Vec::new()));
    made.push(Value::Array(
        items.iter().take(items.len() / 2).cloned().collect(),
    ));
    for index in 0..items.len().min(32) {
        let mut without = items.to_vec();
        without.remove(index);
        made.push(Value::Array(without));
    }
    if depth >= MAX_DEPTH {
        return;
    }
    for (index, item) in items.iter().enumerate().take(16) {
        let mut inner = Vec::new();
        smaller(item, depth + 1, &mut inner);
        for one in inner {
            let mut with = items.to_vec();
            if let Some(place) = with.get_mut(index) {
                *place = one;
            }
            made.push(Value::Array(with));
        }
    }
}

fn objects(members: &Map<String, Value>, depth: usize, made: &mut Vec<Value>) {
    made.push(Value::Object(Map::new()));
    for name in members.keys().take(64) {
        let mut without = members.clone();
        without.remove(name);
        made.push(Value::Object(without));
    }
    if depth >= MAX_DEPTH {
        return;
    }
    for (name, value) in members.iter().take(64) {
        let mut inner = Vec::new();
        smaller(value, depth + 1, &mut inner);
        for one in inner {
            let mut with = members.clone();
            with.insert(name.clone(), one);
            made.push(Value::Object(with));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The smallest arguments for which the predicate holds, found greedily.
    fn shrunk(mut value: Value, shows: impl Fn(&Value) -> bool) -> Value {
        while let Some(next) = candidates(&value).into_iter().find(|one| shows(one)) {
            value = next;
        }
        value
    }

    #[test]
    fn what_matters_is_left() {
        let start = json!({"a": "long text", "b": [1, 2, {"c": 77}], "d": true, "e": null});
        assert_eq!(shrunk(start.clone(), |_| true), json!({}));
        let needs = |value: &Value| value["b"].as_array().is_some_and(|items| items.len() >= 2);
        assert_eq!(shrunk(start.clone(), needs), json!({"b": [0, 0]}));
        let big = |value: &Value| value["n"].as_i64().is_some_and(|n| n >= 10);
        assert_eq!(shrunk(json!({"n": 4000, "m": 1}), big), json!({"n": 10}));
        let quote = |value: &Value| value["s"].as_str().is_some_and(|s| s.contains('"'));
        assert_eq!(
            shrunk(json!({"s": "some \" words"}), quote),
            json!({"s": "\""})
        );
    }

    #[test]
    fn every_candidate_is_smaller() {
        for value in [
            json!({"a": [1, -5, 2.5, "xyz", {"b": false}]}),
            json!("aé"),
            json!(-1),
            json!(true),
        ] {
            assert!(
                candidates(&value)
                    .iter()
                    .all(|one| weight(one) < weight(&value)),
                "{value}"
            );
        }
        assert!(candidates(&json!(0)).is_empty() && candidates(&Value::Null).is_empty());
    }
}
