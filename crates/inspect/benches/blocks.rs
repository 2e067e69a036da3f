//! What a verdict on very many tiny content blocks costs, a megabyte: plain ones, ones that end where a token may begin,
//! ones with a hit each, and tokens that are cut into several of them. Prints the least CPU time of a few runs (on Linux); asserts nothing.

#![expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::hint::black_box;
use std::time::Duration;

use bytes::Bytes;
use countersign_inspect::{
    Contract, Policy, RawReply, Screening, SkipReason, Source, ToolName, examine,
};
use serde_json::{Value, json};

const BYTES: usize = 4_000_000;

fn main() {
    println!(
        "{:<28} {:>9} {:>9} {:>12}",
        "blocks of", "blocks", "bytes", "CPU s a MB"
    );
    for (name, pieces) in SHAPES {
        let blocks: String = pieces.iter().map(|text| block(text)).collect();
        let times = BYTES / blocks.len();
        let content = blocks.repeat(times);
        let content = content.trim_end_matches(',');
        let result = Bytes::from(format!(r#"{{"content":[{content}]}}"#));
        let best = (0..3).map(|_| time(&result)).min().unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
        let rate = best.as_secs_f64() / (result.len() as f64 / 1e6);
        let count = times * pieces.len();
        println!("{name:<28} {count:>9} {:>9} {rate:>12.4}", result.len());
    }
}

const SHAPES: [(&str, &[&str]); 8] = [
    ("nothing", &[""]),
    ("a letter", &["a"]),
    ("an opener", &["<"]),
    (
        "an opener, then nothing",
        &["<", "", "", "", "", "", "", ""],
    ),
    ("a letter that is not ASCII", &["\u{e9}"]),
    ("a tag", &["<s>"]),
    ("a token", &["<|im_start|>"]),
    ("a token in five", &["<", "|a", "b", "|", ">"]),
];

fn block(text: &str) -> String {
    let block: Value = json!({"type": "text", "text": text});
    format!("{block},")
}

fn time(result: &Bytes) -> Duration {
    let contract = Contract::undeclared(ToolName::on_server("s", "t"));
    let raw = RawReply::new(black_box(result).clone(), Source::default());
    let start = cpu_time();
    let examined = examine(raw, &contract, &Policy::default());
    let inspected = examined.conclude(Screening::skipped(SkipReason::NotConfigured));
    black_box(inspected.emitted());
    cpu_time().saturating_sub(start)
}

/// The time this thread has run, which other processes do not disturb.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}
