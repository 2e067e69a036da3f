//! What a verdict on a large result costs beside reading the result with the fastest known parsers of JSON, which neither
//! validate nor clean, and beside its SHA-256. Everything runs in turns in one process.
//!
//!   RUSTFLAGS=-Ctarget-cpu=native cargo run --release --manifest-path bench/parsers/Cargo.toml
//!
//! The product itself is built without that flag; its vectors are chosen when it runs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use countersign_inspect::{Digest, Policy};
use serde::de::IgnoredAny;

#[path = "../../../crates/inspect/benches/throughput/large_result.rs"]
mod large_result;

use large_result::{contract, message, value, verdict};

const ROUNDS: usize = 2_000;
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
    let (contract, policy) = (contract(), Policy::default());
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
