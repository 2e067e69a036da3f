//! What a verdict on a large result costs beside reading the result with the fastest known parsers of JSON, which neither
//! validate nor clean, and beside its SHA-256. Everything runs in turns in one process.
//!
//!   RUSTFLAGS=-Ctarget-cpu=native cargo run --release --manifest-path bench/parsers/Cargo.toml
//!
//! The product itself is built without that flag; its vectors are chosen when it runs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_inspect::{
    Contract, Declaration, Digest, Framing, Policy, RawReply, Screening, SkipReason, Source,
    ToolName, examine,
};
use serde::de::IgnoredAny;
use serde_json::Value;

const ROUNDS: usize = 2_000;
const SCHEMA: &str = r#"{"type":"object","properties":{
    "items":{"type":"array","items":{"type":"object","properties":{
        "id":{"type":"integer","minimum":0},"name":{"type":"string","maxLength":200},
        "price":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},
        "at":{"type":"string"},"active":{"type":"boolean"},"note":{"type":["string","null"]}},
        "required":["id","name","price"],"additionalProperties":false}},
    "total":{"type":"integer"}},"required":["items","total"],"additionalProperties":false}"#;

type Work<'a> = Box<dyn FnMut() -> Duration + 'a>;

fn main() {
    let value = value(1000);
    let message = message(&value);
    let mut works = works(&message, value.as_bytes());
    let mut best = vec![Duration::MAX; works.len()];
    for _ in 0..ROUNDS {
        for ((_, work), best) in works.iter_mut().zip(&mut best) {
            *best = work().min(*best);
        }
    }
    println!(
        "{} bytes, of which {} are structuredContent; the least of {ROUNDS} rounds",
        message.len(),
        value.len()
    );
    let verdict = best[0].as_secs_f64();
    for ((name, _), best) in works.iter().zip(best) {
        let seconds = best.as_secs_f64();
        println!(
            "{name:<54}{:>8.1} µs {:>6.2}",
            seconds * 1e6,
            seconds / verdict
        );
    }
}

/// The first is what the others are compared with.
fn works<'a>(message: &'a Bytes, structured: &'a [u8]) -> Vec<(&'static str, Work<'a>)> {
    let declared = Declaration::new(ToolName::new("list")).output_schema(SCHEMA.to_owned());
    let policy = Policy::default();
    let contract = declared.capture(&policy.output);
    let mut scratch = message.to_vec();
    let mut buffers = simd_json::Buffers::new(message.len());
    vec![
        (
            "Countersign: read, validated, cleaned",
            Box::new(move || timed(|| verdict(message, &contract, &policy))),
        ),
        (
            "sonic-rs: read to a Value",
            Box::new(|| timed(|| sonic_rs::from_slice::<sonic_rs::Value>(message))),
        ),
        (
            "sonic-rs: read, nothing kept",
            Box::new(|| timed(|| sonic_rs::from_slice::<IgnoredAny>(message))),
        ),
        (
            "simd-json: read to a tape",
            Box::new(move || {
                // It writes into what it reads.
                scratch.copy_from_slice(message);
                timed(|| simd_json::to_tape_with_buffers(&mut scratch, &mut buffers).map(drop))
            }),
        ),
        (
            "serde_json: read, nothing kept",
            Box::new(|| timed(|| serde_json::from_slice::<IgnoredAny>(message))),
        ),
        (
            "SHA-256 of structuredContent",
            Box::new(|| timed(|| Digest::sha256(structured))),
        ),
    ]
}

/// How long it takes; dropping the result is not counted.
fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let taken = start.elapsed();
    drop(result);
    taken
}

/// From received bytes to the segments of the answer.
fn verdict(message: &Bytes, contract: &Contract, policy: &Policy) {
    let source = Source {
        framing: Framing::Message,
        ..Source::default()
    };
    let raw = RawReply::new(message.clone(), source);
    let inspected =
        examine(raw, contract, policy).conclude(Screening::skipped(SkipReason::NotConfigured));
    assert!(!inspected.is_changed(), "{:?}", inspected.reason());
    black_box(inspected.message(&Bytes::from_static(b"42")));
}

fn value(count: usize) -> String {
    let record = |n: usize| {
        format!(
            r#"{{"id":{n},"name":"item {n}","price":{n}.5,"tags":["a","b"],"at":"2026-01-02T03:04:05Z","active":true,"note":null}}"#
        )
    };
    let records: Vec<String> = (0..count).map(record).collect();
    format!(r#"{{"items":[{}],"total":{count}}}"#, records.join(","))
}

/// A response whose text repeats its value, as the specification advises.
fn message(value: &str) -> Bytes {
    let text = Value::from(value);
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{value}}}}}"#
    )
    .into()
}
