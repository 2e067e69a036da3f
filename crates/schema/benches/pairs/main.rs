//! Bytes to verdict: this engine, `serde_json::Value` with `jsonschema`, the same with `boon`, and the floor, which is
//! `serde`'s `IgnoredAny` reading the same bytes. Prints the least thread-CPU time of many interleaved rounds, and
//! ratios; asserts nothing about time.
//!
//! Pairs a-d come from `COUNTERSIGN_TEST_DATA`, or are made in the same shape when it is not set.

#![expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]

mod data;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_schema::{Fuel, Limits, Schema, Verdict};
use countersign_tape::{Limits as TapeLimits, Scratch, Tape};
use rustix::time::{ClockId, clock_gettime};
use serde::de::IgnoredAny;
use serde_json::Value;

use data::Pair;

/// Rounds of each contestant. Noise only ever adds, so the least counts.
const ROUNDS: usize = 60;
/// Rounds of each compilation; there are many schemas.
const COMPILE_ROUNDS: usize = 15;
/// Bytes read in one timed batch, so that the clock's own cost does not show.
const BATCH_BYTES: usize = 200_000;

fn main() {
    let folder = std::env::var_os("COUNTERSIGN_TEST_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!(
            "COUNTERSIGN_TEST_DATA is not set: generated pairs of the same shape, no real schemas"
        );
    }
    println!("bytes to verdict, µs: least thread-CPU time of {ROUNDS} rounds");
    println!(
        "{:<12} {:>8} {:>9} {:>11} {:>9} {:>11} {:>9} | {:>15} {:>9} {:>16}",
        "pair",
        "bytes",
        "ours",
        "jsonschema",
        "boon",
        "IgnoredAny",
        "tape",
        "jsonschema/ours",
        "boon/ours",
        "ours/IgnoredAny"
    );
    for pair in data::pairs(folder.as_deref()) {
        compare(&pair);
    }
    if let Some(folder) = folder {
        compile_times(&folder.join("tool-schemas"));
    }
}

/// The time this thread has been running.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(seconds, nanoseconds)
}

fn timed(batch: u32, run: &mut dyn FnMut()) -> Duration {
    let start = thread_time();
    for _ in 0..batch {
        run();
    }
    thread_time().saturating_sub(start) / batch
}

/// The least time of each contestant, in turns.
fn least<const N: usize>(
    rounds: usize,
    batch: u32,
    mut contestants: [&mut dyn FnMut(); N],
) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..rounds {
        for (best, run) in best.iter_mut().zip(&mut contestants) {
            *best = timed(batch, *run).min(*best);
        }
    }
    best
}

fn compare(pair: &Pair) {
    let bytes = pair.instance.as_slice();
    let schema = countersign_schema::compile(&pair.schema, &Limits::default()).expect("compiles");
    let value: Value = serde_json::from_slice(&pair.schema).expect("JSON");
    let peer = jsonschema::options()
        .should_validate_formats(false)
        .build(&value)
        .expect("compiles");
    let (schemas, index) = boon_schema(value);
    let limits = TapeLimits::default();
    let (mut scratch, mut spare) = (Scratch::default(), Scratch::default());
    let batch = u32::try_from(BATCH_BYTES / bytes.len() + 1).unwrap_or(1);
    let [ours, jsonschema, boon, floor, tape] = least(
        ROUNDS,
        batch,
        [
            &mut || assert!(conforms(&schema, black_box(bytes), &limits, &mut scratch)),
            &mut || {
                let value: Value = serde_json::from_slice(black_box(bytes)).expect("JSON");
                assert!(black_box(peer.is_valid(&value)));
            },
            &mut || {
                let value: Value = serde_json::from_slice(black_box(bytes)).expect("JSON");
                assert!(black_box(schemas.validate(&value, index).is_ok()));
            },
            &mut || {
                black_box(serde_json::from_slice::<IgnoredAny>(black_box(bytes)).expect("JSON"));
            },
            &mut || {
                let tape = Tape::parse_with(black_box(bytes), &limits, &mut spare).expect("JSON");
                black_box(&tape);
                tape.recycle(&mut spare);
            },
        ],
    );
    println!(
        "{:<12} {:>8} {:>9.2} {:>11.2} {:>9.2} {:>11.2} {:>9.2} | {:>15.2} {:>9.2} {:>16.2}",
        pair.name,
        bytes.len(),
        micros(ours),
        micros(jsonschema),
        micros(boon),
        micros(floor),
        micros(tape),
        ratio(jsonschema, ours),
        ratio(boon, ours),
        ratio(ours, floor),
    );
}

/// Bytes to verdict as inspection does it: read and judged in one pass where that is possible.
fn conforms(schema: &Schema, bytes: &[u8], limits: &TapeLimits, scratch: &mut Scratch) -> bool {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let read = schema.read_conforming(text, 0, limits.max_depth, 1.0);
    if black_box(read).is_some_and(|read| read.end == bytes.len()) {
        return true;
    }
    let tape = Tape::parse_str(text, limits, scratch).expect("JSON");
    let mut fuel = Fuel::for_instance(&tape, 1.0);
    let verdict = black_box(schema.is_valid(&tape, &mut fuel));
    tape.recycle(scratch);
    verdict == Verdict::Valid
}

fn boon_schema(value: Value) -> (boon::Schemas, boon::SchemaIndex) {
    const PLACE: &str = "https://example.com/schema";
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource(PLACE, value).expect("a resource");
    let index = compiler.compile(PLACE, &mut schemas).expect("compiles");
    (schemas, index)
}

/// Schema bytes to something that can judge, over the schemas of real tools.
fn compile_times(folder: &Path) {
    let mut times: [Vec<Duration>; 2] = [Vec::new(), Vec::new()];
    for schema in data::schemas(folder) {
        if countersign_schema::compile(&schema, &Limits::default()).is_err() {
            continue;
        }
        let best = least(
            COMPILE_ROUNDS,
            1,
            [
                &mut || {
                    let schema =
                        countersign_schema::compile(black_box(&schema), &Limits::default());
                    black_box(schema.is_ok());
                },
                &mut || {
                    let value: Value = serde_json::from_slice(black_box(&schema)).expect("JSON");
                    let options = jsonschema::options().should_validate_formats(false);
                    black_box(options.build(&value).is_ok());
                },
            ],
        );
        for (times, best) in times.iter_mut().zip(best) {
            times.push(best);
        }
    }
    println!(
        "\nschema bytes to validator, µs: {} real schemas, least of {COMPILE_ROUNDS} rounds each",
        times[0].len()
    );
    println!("{:<12} {:>9} {:>9} {:>9}", "", "p50", "p99", "max");
    for (name, times) in ["ours", "jsonschema"].iter().zip(&mut times) {
        times.sort_unstable();
        let at = |percent: usize| {
            let place = times.len().saturating_sub(1) * percent / 100;
            micros(times.get(place).copied().unwrap_or_default())
        };
        println!(
            "{name:<12} {:>9.2} {:>9.2} {:>9.2}",
            at(50),
            at(99),
            at(100)
        );
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn ratio(over: Duration, under: Duration) -> f64 {
    over.as_secs_f64() / under.as_secs_f64()
}
