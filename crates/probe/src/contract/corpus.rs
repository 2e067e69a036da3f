//! Values seen in results, by the name they had there: ids, paths, names. Calls that need
//! something that exists draw from here; a random string never gets past "not found". Bounded,
//! and kept in memory only.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const MAX_NAMES: usize = 256;
const MAX_PER_NAME: usize = 8;
const MAX_VALUE_BYTES: usize = 256;
/// Values of one result that are looked at.
const MAX_VISITED: usize = 2_000;

/// What was learnt from results.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    by_name: BTreeMap<String, Vec<Value>>,
}

impl Corpus {
    /// Learns from a result's structured content and from texts that are JSON.
    pub(crate) fn learn(&mut self, structured: Option<&[u8]>, texts: &[String]) {
        let texts = texts.iter().map(String::as_bytes);
        for bytes in structured.into_iter().chain(texts) {
            if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
                self.learn_value(&value);
            }
        }
    }

    fn learn_value(&mut self, value: &Value) {
        let mut pending = vec![(String::new(), value)];
        let mut visited = 0;
        while let Some((name, value)) = pending.pop() {
            visited += 1;
            if visited > MAX_VISITED {
                return;
            }
            match value {
                Value::Object(members) => {
                    pending.extend(members.iter().map(|(key, value)| (normal(key), value)));
                }
                Value::Array(items) => {
                    let name = name.strip_suffix('s').unwrap_or(&name).to_owned();
                    pending.extend(items.iter().take(16).map(|item| (name.clone(), item)));
                }
                Value::String(_) | Value::Number(_) => self.keep(name, value),
                Value::Null | Value::Bool(_) => {}
            }
        }
    }

    fn keep(&mut self, name: String, value: &Value) {
        let known = self.by_name.contains_key(&name);
        let small = value.to_string().len() <= MAX_VALUE_BYTES;
        if name.is_empty() || !small || (!known && self.by_name.len() >= MAX_NAMES) {
            return;
        }
        let values = self.by_name.entry(name).or_default();
        if values.len() < MAX_PER_NAME && !values.contains(value) {
            values.push(value.clone());
        }
    }

    /// Arguments like these, with one value that was seen before in each.
    pub(crate) fn arguments(&self, base: &Value, most: usize) -> Vec<Value> {
        let (mut made, text) = (Vec::new(), json!(""));
        for (name, old) in base.as_object().into_iter().flatten() {
            if made.len() >= most {
                break;
            }
            let normal = normal(name);
            let with = |value: Value| {
                let mut arguments = base.clone();
                arguments[name] = value;
                arguments
            };
            let same_type = self.values_for(&normal, old).filter(|value| *value != old);
            made.extend(same_type.take(most).map(|value| with(value.clone())));
            let first_text = self.values_for(&normal, &text).next();
            made.extend(
                first_text
                    .filter(|_| old.is_array())
                    .map(|one| with(json!([one]))),
            );
        }
        made.truncate(most);
        made
    }

    /// Values seen under this name, or under one that ends alike (`file_id` and `id`).
    fn values_for<'a>(&'a self, name: &'a str, like: &'a Value) -> impl Iterator<Item = &'a Value> {
        let same = |value: &&Value| std::mem::discriminant(*value) == std::mem::discriminant(like);
        let ends_alike =
            move |known: &str| known.len() >= 2 && (name.ends_with(known) || known.ends_with(name));
        let singular = name.strip_suffix('s').unwrap_or(name);
        self.by_name
            .iter()
            .filter(move |(known, _)| known.as_str() == singular || ends_alike(known))
            .flat_map(|(_, values)| values)
            .filter(same)
    }
}

/// `fileId`, `file_id` and `file-id` are one name.
fn normal(name: &str) -> String {
    name.chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .take(64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_used_where_the_name_fits() {
        let mut corpus = Corpus::default();
        corpus.learn(
            Some(br#"{"items":[{"fileId":"f-1","size":3},{"fileId":"f-2"}]}"#),
            &["{\"name\":\"x\"}".to_owned(), "no json".to_owned()],
        );
        let made = corpus.arguments(&json!({"file_id": "a", "other": 1, "size": 0}), 10);
        assert_eq!(
            made,
            [
                json!({"file_id": "f-2", "other": 1, "size": 0}),
                json!({"file_id": "f-1", "other": 1, "size": 0}),
                json!({"file_id": "a", "other": 1, "size": 3}),
            ]
        );
        assert_eq!(
            corpus.arguments(&json!({"names": ["a"]}), 10),
            [json!({"names": ["x"]})]
        );
        assert!(
            corpus.arguments(&json!({"file_id": 7}), 10).is_empty(),
            "types must fit"
        );
    }

    #[test]
    fn hostile_results_are_bounded() {
        let mut corpus = Corpus::default();
        let wide: serde_json::Map<String, Value> =
            (0..5000).map(|i| (format!("k{i}"), json!("v"))).collect();
        corpus.learn(
            Some(json!(wide).to_string().as_bytes()),
            &["x".repeat(1000)],
        );
        assert!(corpus.by_name.len() <= MAX_NAMES);
    }
}
