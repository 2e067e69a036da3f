//! A large result whose text repeats its value, its schema, and a verdict on it.

use std::hint::black_box;

use bytes::Bytes;
use countersign_inspect::{
    Contract, Declaration, Framing, Policy, RawReply, Screening, SkipReason, Source, ToolName,
    examine,
};
use serde_json::Value;

const SCHEMA: &str = r#"{"type":"object","properties":{
    "items":{"type":"array","items":{"type":"object","properties":{
        "id":{"type":"integer","minimum":0},"name":{"type":"string","maxLength":200},
        "price":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},
        "at":{"type":"string"},"active":{"type":"boolean"},"note":{"type":["string","null"]}},
        "required":["id","name","price"],"additionalProperties":false}},
    "total":{"type":"integer"}},"required":["items","total"],"additionalProperties":false}"#;

/// The contract of the tool that answers so.
pub(crate) fn contract() -> Contract {
    let declared = Declaration::new(ToolName::new("list")).output_schema(SCHEMA.to_owned());
    declared.capture(&Policy::default().output)
}

/// The value, with as many records.
pub(crate) fn value(count: usize) -> String {
    let record = |n: usize| {
        format!(
            r#"{{"id":{n},"name":"item {n}","price":{n}.5,"tags":["a","b"],"at":"2026-01-02T03:04:05Z","active":true,"note":null}}"#
        )
    };
    let records: Vec<String> = (0..count).map(record).collect();
    format!(r#"{{"items":[{}],"total":{count}}}"#, records.join(","))
}

/// A response whose text repeats its value, as the specification advises.
pub(crate) fn message(value: &str) -> Bytes {
    let text = Value::from(value);
    format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{value}}}}}"#)
        .into()
}

/// From received bytes to the segments of the answer.
pub(crate) fn verdict(message: &Bytes, contract: &Contract, policy: &Policy) {
    let source = Source {
        framing: Framing::Message,
        ..Source::default()
    };
    let raw = RawReply::new(black_box(message).clone(), source);
    let inspected =
        examine(raw, contract, policy).conclude(Screening::skipped(SkipReason::NotConfigured));
    assert!(!inspected.is_changed(), "{:?}", inspected.reason());
    black_box(inspected.message(&Bytes::from_static(b"42")));
}
