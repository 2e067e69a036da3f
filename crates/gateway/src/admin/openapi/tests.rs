use std::collections::BTreeSet;

use countersign_audit::{Decision, Filter, Kind, Query, Stage, Status, Timestamp};
use serde_json::{Value, json};

use super::document;
use crate::admin::RESOURCES;

fn parsed() -> Value {
    serde_json::from_slice(&document()).expect("JSON")
}

#[test]
fn every_resource_is_described_and_nothing_else() {
    let document = parsed();
    let described: BTreeSet<&str> = document["paths"]
        .as_object()
        .expect("paths")
        .keys()
        .map(String::as_str)
        .collect();
    let paths: Vec<String> = RESOURCES
        .iter()
        .map(|(path, _)| format!("/api/v1/{path}"))
        .collect();
    let beside = ["/events", "/metrics", "/healthz", "/readyz"];
    let served = paths.iter().map(String::as_str).chain(beside).collect();
    assert_eq!(described, served);
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn closed_sets_are_named_in_full() {
    let document = parsed();
    let words = |name: &str| document["components"]["schemas"][name]["enum"].clone();
    assert_eq!(words("Type"), json!(Kind::WORDS));
    assert_eq!(words("Status"), json!(Status::WORDS));
    assert_eq!(words("Stage"), json!(Stage::WORDS));
    assert_eq!(words("Decision"), json!(Decision::WORDS));
    let counted = |path: &str| -> Vec<String> {
        let counts = document["components"]["schemas"]["Summary"]["properties"].pointer(path);
        let counts = counts.and_then(Value::as_object).expect("counts");
        counts.keys().cloned().collect()
    };
    let sorted = |words: &[&str]| {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        words.sort();
        words
    };
    assert_eq!(counted("/statuses/properties"), sorted(Status::WORDS));
    assert_eq!(counted("/types/properties"), sorted(Kind::WORDS));
}

/// The parameters of an operation, references followed.
fn parameters(document: &Value, path: &str) -> Vec<String> {
    let listed = document["paths"][path]["get"]["parameters"].as_array();
    listed
        .into_iter()
        .flatten()
        .map(|parameter| {
            let target = parameter["$ref"].as_str().map_or(parameter, |target| {
                document.pointer(&target[1..]).expect("the target is there")
            });
            target["name"].as_str().expect("a name").to_owned()
        })
        .collect()
}

#[test]
fn parameters_are_those_the_parsers_know() {
    let document = parsed();
    let now = Timestamp::from_millis(0);
    let known = Query::from_pairs([("?", "")], now).expect_err("unknown");
    let known = known.to_string();
    let allowed = |message: &str| -> Vec<String> {
        let (_, words) = message.split_once("allowed: ").expect("a list");
        words.split(", ").map(str::to_owned).collect()
    };
    assert_eq!(parameters(&document, "/api/v1/activity"), allowed(&known));
    let known = Filter::from_pairs([("?", "")], now).expect_err("unknown");
    let filters = allowed(&known.to_string());
    let mut export = vec!["format".to_owned()];
    export.extend(filters.clone());
    assert_eq!(parameters(&document, "/api/v1/activity/export"), export);
    let mut events = filters;
    events.push("Last-Event-ID".to_owned());
    assert_eq!(parameters(&document, "/events"), events);
}
