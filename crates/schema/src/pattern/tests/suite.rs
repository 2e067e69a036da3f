//! The pattern cases of the official JSON Schema test suite, and the patterns of published tool schemas.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{PatternError, compile};

/// A folder of the test data.
fn data(suite: &str) -> PathBuf {
    let root = std::env::var_os("COUNTERSIGN_TEST_DATA").expect("COUNTERSIGN_TEST_DATA is set");
    PathBuf::from(root).join(suite)
}

fn read(path: &Path) -> Value {
    let bytes = fs::read(path).expect("a readable file");
    serde_json::from_slice(&bytes).expect("a JSON file")
}

fn is_false(schema: &Value) -> bool {
    schema == &Value::Bool(false)
}

/// The verdict the patterns of a schema lead to, or `None` when something besides patterns decides.
fn verdict(schema: &Value, instance: &Value) -> Option<bool> {
    if let Some(source) = schema.get("pattern") {
        let pattern = compile(source.as_str()?).expect("a pattern of the suite");
        return Some(instance.as_str().is_none_or(|text| pattern.is_match(text)));
    }
    let Some(members) = instance.as_object() else {
        return Some(true);
    };
    let mut valid = true;
    for (source, inner) in schema.get("patternProperties")?.as_object()? {
        let pattern = compile(source).expect("a pattern of the suite");
        for (_, value) in members.iter().filter(|(key, _)| pattern.is_match(key)) {
            valid &= match inner.get("type").and_then(Value::as_str) {
                Some("integer") => value.is_i64(),
                Some("number") => value.is_number(),
                Some("boolean") => value.is_boolean(),
                Some("null") => value.is_null(),
                Some("string") => value.is_string(),
                Some(_) => return None,
                None if inner.get("maximum").is_some() => {
                    value.as_f64() <= inner["maximum"].as_f64()
                }
                None => !is_false(inner),
            };
        }
    }
    if schema.get("additionalProperties").is_some_and(is_false) {
        let sources = schema.get("patternProperties")?.as_object()?;
        let patterns: Vec<_> = sources.keys().filter_map(|s| compile(s).ok()).collect();
        valid &= members
            .keys()
            .all(|key| patterns.iter().any(|pattern| pattern.is_match(key)));
    }
    Some(valid)
}

#[test]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn official_suite_on_test_data() {
    let root = data("json-schema-test-suite");
    let mut judged = 0;
    for file in [
        "optional/ecmascript-regex.json",
        "optional/non-bmp-regex.json",
        "pattern.json",
        "patternProperties.json",
    ] {
        for group in read(&root.join("tests/draft2020-12").join(file))
            .as_array()
            .expect("groups")
        {
            for test in group["tests"].as_array().expect("tests") {
                let verdict = verdict(&group["schema"], &test["data"]);
                assert_eq!(
                    verdict,
                    test["valid"].as_bool(),
                    "{file}: {}: {}",
                    group["description"],
                    test["description"]
                );
                judged += 1;
            }
        }
    }
    assert!(judged > 100, "only {judged} tests were found");
}

/// Collects every `pattern` and `patternProperties` of a document, without recursion.
fn patterns_of(document: Value, found: &mut BTreeSet<String>) {
    let mut queue = vec![document];
    while let Some(value) = queue.pop() {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    match (key.as_str(), &value) {
                        ("pattern", Value::String(source)) => {
                            found.insert(source.clone());
                        }
                        ("patternProperties", Value::Object(inner)) => {
                            found.extend(inner.keys().cloned());
                        }
                        _ => {}
                    }
                    queue.push(value);
                }
            }
            Value::Array(elements) => queue.extend(elements),
            _ => {}
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "exceptions are listed for the reader")]
#[ignore = "needs COUNTERSIGN_TEST_DATA"]
fn published_tool_schemas_on_test_data() {
    let (tools, bench) = (data("tool-schemas"), data("bench"));
    let mut found = BTreeSet::new();
    let mut folders = vec![tools, bench];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(document) = serde_json::from_slice(&fs::read(&path).expect("a file")) {
                patterns_of(document, &mut found);
            }
        }
    }
    assert!(found.len() >= 5, "only {} patterns were found", found.len());
    for source in found {
        match compile(&source) {
            Ok(_) => {}
            Err(error @ PatternError::LookAround { .. }) => eprintln!("{source}: {error}"),
            Err(error) => panic!("{source}: {error}"),
        }
    }
}
