//! What sanitising adds to a verdict: the same responses with it off and in its default mode, nothing in them to find or
//! one hit at the end. Prints the minimum of many alternating runs; asserts nothing about time. Instruction counts, which
//! no other process disturbs, are `examples/overhead.rs` under callgrind.

#![expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_inspect::{
    Contract, Framing, Policy, RawReply, Sanitisation, Screening, SkipReason, Source, ToolName,
    examine,
};
use serde_json::Value;

fn main() {
    println!(
        "{:<28} {:>8} {:>9} {:>9} {:>9} {:>10} {:>8}",
        "result", "bytes", "off µs", "clean µs", "hit µs", "added µs", "GB/s"
    );
    for (size, length) in [("1 KB", 1_000), ("15 KB", 15_000), ("1 MB", 1_000_000)] {
        for (name, unit) in UNITS {
            let text = unit.repeat(length / unit.len() + 1);
            row(&format!("{name}, {size}"), |hit| {
                let text = Value::from(format!("{text}{hit}"));
                format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#)
            });
        }
        let record = r#"{"id":7,"name":"item number 7","price":7.25,"tags":["new","sale"],"seller":{"id":"s-7","country":"NO"}}"#;
        let records = vec![record; length / record.len() + 1].join(",");
        row(&format!("dense records, {size}"), |hit| {
            format!(
                r#"{{"content":[],"structuredContent":{{"items":[{records}],"last":"{hit}"}}}}"#
            )
        });
    }
}

const UNITS: [(&str, &str); 4] = [
    (
        "prose",
        "a line of ordinary prose, of the kind that tools return, ",
    ),
    ("lines", "a line of ordinary prose\n"),
    (
        "JSON in text",
        r#"{"id": 17, "name": "a \"name\"", "next": null}, "#,
    ),
    ("Russian", "Все люди рождаются свободными и равными. "),
];

fn row(name: &str, result: impl Fn(&str) -> String) {
    let message = |hit: &str| {
        let result = result(hit);
        Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#))
    };
    let (plain, hostile) = (message(""), message("<|im_start|>"));
    let contract = Contract::undeclared(ToolName::on_server("s", "t"));
    let off = Policy {
        sanitisation: Sanitisation::off(),
        ..Policy::default()
    };
    let clean = Policy::default();
    let [without, with, hit] = minima(
        plain.len(),
        [
            &mut || verdict(&plain, &contract, &off),
            &mut || verdict(&plain, &contract, &clean),
            &mut || verdict(&hostile, &contract, &clean),
        ],
    );
    let added = with.saturating_sub(without).as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let rate = plain.len() as f64 / added.max(1e-12) / 1e9;
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    println!(
        "{name:<28} {:>8} {:>9.2} {:>9.2} {:>9.2} {:>10.3} {rate:>8.2}",
        plain.len(),
        micros(without),
        micros(with),
        micros(hit),
        added * 1e6,
    );
}

fn verdict(message: &Bytes, contract: &Contract, policy: &Policy) {
    let source = Source {
        framing: Framing::Message,
        ..Source::default()
    };
    let raw = RawReply::new(black_box(message).clone(), source);
    let examined = examine(raw, contract, policy);
    let inspected = examined.conclude(Screening::skipped(SkipReason::NotConfigured));
    black_box(inspected.message(&Bytes::from_static(b"42")));
}

/// The fastest of many alternating runs: noise only ever adds.
fn minima<const N: usize>(bytes: usize, mut runs: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let batch = u32::try_from((200_000 / bytes.max(1)).max(1)).unwrap_or(1);
    let mut best = [Duration::MAX; N];
    let end = Instant::now() + Duration::from_secs(1);
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
