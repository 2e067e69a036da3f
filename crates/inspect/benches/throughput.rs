//! From received bytes to a verdict, stage by stage, for results of which half is JSON text in a text block (a backslash
//! every eight bytes) and half is `structuredContent` that repeats it. Prints GB/s and how many times the bytes could be
//! read by `serde::de::IgnoredAny` meanwhile; asserts nothing about time. An argument selects stages by name.

#![expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_inspect::{Mode, Policy, Sanitisation};
use countersign_tape::{ScanLimits, scan};
use serde::de::IgnoredAny;

#[path = "throughput/large_result.rs"]
mod large_result;

use large_result::{contract, message, value, verdict};

fn main() {
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    for records in [4, 70, 1000] {
        let message = message(&value(records));
        println!("{} bytes", message.len());
        let mut floor = None;
        for (name, mut run) in stages(&message) {
            let is_selected = filter
                .as_ref()
                .is_none_or(|filter| name.contains(filter.as_str()));
            if !is_selected {
                continue;
            }
            let seconds = fastest(message.len(), &mut run).as_secs_f64();
            let floor = *floor.get_or_insert(seconds);
            #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
            let rate = message.len() as f64 / seconds / 1e9;
            println!(
                "  {name:<34} {:>9.2} µs {rate:>8.2} GB/s {:>8.2}",
                seconds * 1e6,
                seconds / floor
            );
        }
    }
}

type Stage<'a> = (&'static str, Box<dyn FnMut() + 'a>);

/// The first is what the others are compared with.
fn stages(message: &Bytes) -> Vec<Stage<'_>> {
    let policy = |mode, sanitisation: Option<Sanitisation>| {
        let mut policy = Policy::default();
        policy.output.mode = mode;
        policy.sanitisation = sanitisation.unwrap_or(policy.sanitisation);
        policy
    };
    let verdict = |mode, sanitisation| {
        let (contract, policy) = (contract(), policy(mode, sanitisation));
        Box::new(move || verdict(message, &contract, &policy)) as Box<dyn FnMut()>
    };
    vec![
        ("floor: IgnoredAny", Box::new(|| floor(message))),
        ("memchr", Box::new(|| find_nul(message))),
        ("envelope", Box::new(|| read_envelope(message))),
        (
            "verdict: off",
            verdict(Mode::Off, Some(Sanitisation::off())),
        ),
        ("verdict: sanitising", verdict(Mode::Off, None)),
        (
            "verdict: strict",
            verdict(Mode::Strict, Some(Sanitisation::off())),
        ),
        (
            "verdict: strict and sanitising",
            verdict(Mode::Strict, None),
        ),
    ]
}

fn floor(message: &Bytes) {
    black_box(serde_json::from_slice::<IgnoredAny>(black_box(message))).expect("JSON");
}

fn find_nul(message: &Bytes) {
    black_box(memchr::memchr(0, black_box(message)));
}

fn read_envelope(message: &Bytes) {
    black_box(scan(black_box(message), &ScanLimits::default())).expect("JSON");
}

/// The fastest of many runs: noise only ever adds.
fn fastest(bytes: usize, run: &mut dyn FnMut()) -> Duration {
    let batch = u32::try_from((200_000 / bytes.max(1)).max(1)).unwrap_or(1);
    let mut best = Duration::MAX;
    let end = Instant::now() + Duration::from_secs(1);
    while Instant::now() < end {
        let start = Instant::now();
        for _ in 0..batch {
            run();
        }
        best = best.min(start.elapsed() / batch);
    }
    best
}
