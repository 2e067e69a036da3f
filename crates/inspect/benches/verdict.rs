//! A verdict on a whole response, against what a gateway that decodes, validates and re-encodes
//! does with the same bytes (`serde_json::Value`, `jsonschema`, `to_vec`), and against reading the
//! envelope alone. Prints the minimum of many alternating runs and ratios; asserts nothing about time.

#![expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_inspect::config::OutputValidation;
use countersign_inspect::{
    Contract, Decision, Declaration, Framing, Mode, Policy, RawReply, Sanitisation, Screening,
    SkipReason, Source, ToolName, examine,
};
use countersign_tape::{ScanLimits, scan};
use serde_json::Value;

const ISSUES: &str = r##"{"$defs":{
    "User":{"type":"object","properties":{"login":{"type":"string"},"id":{"type":"integer"},
        "type":{"enum":["User","Bot"]},"html_url":{"type":"string","format":"uri"}},
        "required":["login","id"]},
    "Issue":{"type":"object","properties":{"number":{"type":"integer","minimum":1},
        "title":{"type":"string","maxLength":512},"state":{"enum":["open","closed"]},
        "body":{"anyOf":[{"type":"string"},{"type":"null"}]},"user":{"$ref":"#/$defs/User"},
        "labels":{"type":"array","items":{"type":"string"}},
        "comments":{"type":"integer","minimum":0},
        "created_at":{"type":"string","format":"date-time"},"locked":{"type":"boolean"}},
        "required":["number","title","state","user"],"additionalProperties":false}},
    "type":"object","properties":{"total_count":{"type":"integer"},
        "items":{"type":"array","items":{"$ref":"#/$defs/Issue"}}},"required":["items"]}"##;

const RECORDS: &str = r#"{"type":"object","properties":{
    "items":{"type":"array","items":{"type":"object","properties":{
        "id":{"type":"integer","minimum":0},"name":{"type":"string","maxLength":200},
        "price":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},
        "active":{"type":"boolean"},"note":{"type":["string","null"]},
        "seller":{"type":"object","properties":{"id":{"type":"string"},"rating":{"type":"number"},
            "country":{"type":"string","pattern":"^[A-Z]{2}$"}},
            "required":["id"],"additionalProperties":false}},
        "required":["id","name","price"],"additionalProperties":false}},
    "total":{"type":"integer"}},"required":["items","total"],"additionalProperties":false}"#;

fn main() {
    println!(
        "{:<24} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11}",
        "result",
        "bytes",
        "scan µs",
        "off µs",
        "none µs",
        "strict µs",
        "peer µs",
        "off/scan",
        "peer/strict"
    );
    for (size, count) in [("1 KB", 1), ("15 KB", 17), ("1 MB", 1170)] {
        let (issues, twin) = (issues(count), issues(count));
        row(
            &format!("issues and twin, {size}"),
            ISSUES,
            &message(&issues, Some(&twin)),
        );
    }
    for (size, count) in [("1 KB", 2), ("15 KB", 33), ("1 MB", 2250)] {
        row(
            &format!("issues, {size}"),
            ISSUES,
            &message(&issues(count), None),
        );
    }
    for (size, count) in [("1 KB", 6), ("15 KB", 95), ("1 MB", 6450)] {
        row(
            &format!("dense records, {size}"),
            RECORDS,
            &message(&records(count), None),
        );
    }
}

fn row(name: &str, schema: &str, message: &Bytes) {
    let declared = Declaration::new(ToolName::new("list")).output_schema(schema.to_owned());
    let declared = declared.capture(&OutputValidation::default());
    let undeclared = Contract::undeclared(ToolName::new("list"));
    let schema: Value = serde_json::from_str(schema).expect("a schema");
    let peer = jsonschema::validator_for(&schema).expect("it compiles");
    // Made once, as a gateway does.
    let [off, warn, strict] = [Mode::Off, Mode::Warn, Mode::Strict].map(policy);
    let [scanned, off, none, strict, decoded] = minima(
        message.len(),
        [
            &mut || {
                black_box(scan(black_box(message), &ScanLimits::default())).expect("JSON");
            },
            &mut || verdict(message, &declared, &off),
            &mut || verdict(message, &undeclared, &warn),
            &mut || verdict(message, &declared, &strict),
            &mut || decode_validate_encode(message, &peer),
        ],
    );
    println!(
        "{name:<24} {:>8} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>11.2}",
        message.len(),
        micros(scanned),
        micros(off),
        micros(none),
        micros(strict),
        micros(decoded),
        off.as_secs_f64() / scanned.as_secs_f64(),
        decoded.as_secs_f64() / strict.as_secs_f64(),
    );
}

/// What cleaning adds is measured by a bench of its own.
fn policy(mode: Mode) -> Policy {
    let output = OutputValidation {
        mode,
        ..OutputValidation::default()
    };
    Policy {
        output,
        sanitisation: Sanitisation::off(),
        ..Policy::default()
    }
}

/// From received bytes to the segments of the answer.
fn verdict(message: &Bytes, contract: &Contract, policy: &Policy) {
    let source = Source {
        framing: Framing::Message,
        ..Source::default()
    };
    let examined = examine(
        RawReply::new(black_box(message).clone(), source),
        contract,
        policy,
    );
    let inspected = examined.conclude(Screening::skipped(SkipReason::NotConfigured));
    assert_eq!(inspected.decision(), Decision::Allowed);
    black_box(inspected.message(&Bytes::from_static(b"42")));
}

/// What a gateway does that works on values.
fn decode_validate_encode(message: &Bytes, schema: &jsonschema::Validator) {
    let mut value: Value = serde_json::from_slice(black_box(message)).expect("JSON");
    let structured = value
        .pointer("/result/structuredContent")
        .expect("it is there");
    assert!(schema.is_valid(structured));
    if let Some(id) = value.get_mut("id") {
        *id = Value::from(42);
    }
    black_box(serde_json::to_vec(&value)).expect("it serialises");
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The fastest of many alternating runs: noise only ever adds.
fn minima<const N: usize>(bytes: usize, mut runs: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let batch = u32::try_from((200_000 / bytes.max(1)).max(1)).unwrap_or(1);
    let mut best = [Duration::MAX; N];
    let end = Instant::now() + Duration::from_secs(3);
    while Instant::now() < end {
        for (best, run) in best.iter_mut().zip(&mut runs) {
            let start = Instant::now();
            for _ in 0..batch {
                run();
            }
            *best = (*best).min(start.elapsed() / batch);
        }
    }
    best
}

/// A response; servers that follow the specification's advice repeat the value as text.
fn message(structured: &str, twin: Option<&str>) -> Bytes {
    let text = Value::from(twin.unwrap_or("as structured content"));
    format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structured}}}}}"#)
        .into()
}

/// What an issue tracker's tool returns.
fn issues(count: usize) -> String {
    let body = "The build fails after the last change, but only when the cache is cold. ";
    let issue = |n: usize| {
        let body = body.repeat(n % 3 + 1);
        format!(
            r#"{{"number":{n},"title":"Build fails on a cold cache","state":"open","body":"{body}","user":{{"login":"user{n}","id":{n},"type":"User","html_url":"https://tracker.example/user{n}"}},"labels":["bug","ci"],"comments":3,"created_at":"2026-01-02T03:04:05Z","locked":false}}"#
        )
    };
    let all: Vec<String> = (1..=count).map(issue).collect();
    format!(r#"{{"total_count":{count},"items":[{}]}}"#, all.join(","))
}

/// Short members and numbers only: the most work per byte.
fn records(count: usize) -> String {
    let record = |n: usize| {
        format!(
            r#"{{"id":{n},"name":"item number {n}","price":{n}.25,"tags":["new","sale"],"active":true,"seller":{{"id":"s-{n}","rating":4.5,"country":"NO"}},"note":null}}"#
        )
    };
    let all: Vec<String> = (0..count).map(record).collect();
    format!(r#"{{"items":[{}],"total":{count}}}"#, all.join(","))
}
