//! Parsing a tape against the floor, `serde_json::de::IgnoredAny`, on the same bytes.
//! Prints the minimum of many runs and the ratio; asserts nothing about time. An argument selects inputs by name.

#![expect(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use countersign_tape::{Limits, ScanLimits, Scratch, Tape, scan};
use serde::de::IgnoredAny;

fn main() {
    println!(
        "{:<16} {:>9} {:>10} {:>10} {:>10} {:>7} {:>7}",
        "input", "bytes", "floor µs", "tape µs", "scan µs", "tape", "scan"
    );
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    for (name, bytes) in inputs() {
        if filter
            .as_ref()
            .is_some_and(|filter| !name.contains(filter.as_str()))
        {
            continue;
        }
        let limits = Limits {
            max_bytes: usize::MAX,
            max_depth: 10_000,
        };
        let mut scratch = Scratch::default();
        let hard = ScanLimits::default();
        let [floor, tape, scanned] = minima(
            bytes.len(),
            [
                &mut || {
                    black_box(serde_json::from_slice::<IgnoredAny>(black_box(&bytes)))
                        .expect("valid JSON");
                },
                &mut || {
                    let tape = Tape::parse_with(black_box(&bytes), &limits, &mut scratch)
                        .expect("valid JSON");
                    black_box(&tape);
                    tape.recycle(&mut scratch);
                },
                &mut || {
                    black_box(scan(black_box(&bytes), &hard)).expect("valid JSON");
                },
            ],
        );
        println!(
            "{name:<16} {:>9} {:>10.2} {:>10.2} {:>10.2} {:>7.2} {:>7.2}",
            bytes.len(),
            micros(floor),
            micros(tape),
            micros(scanned),
            tape.as_secs_f64() / floor.as_secs_f64(),
            scanned.as_secs_f64() / floor.as_secs_f64(),
        );
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The fastest of many alternating runs: noise only ever adds.
fn minima<const N: usize>(bytes: usize, mut runs: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let batch = u32::try_from((100_000 / bytes.max(1)).max(1)).unwrap_or(1);
    let mut best = [Duration::MAX; N];
    let end = Instant::now() + Duration::from_millis(900);
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

fn inputs() -> Vec<(String, Vec<u8>)> {
    let mut inputs = vec![
        ("small".to_owned(), record(7).into_bytes()),
        ("records".to_owned(), records(500).into_bytes()),
        ("pretty".to_owned(), pretty(&records(500)).into_bytes()),
        ("numbers".to_owned(), numbers(20_000).into_bytes()),
        ("long text".to_owned(), long_text(4000).into_bytes()),
        ("base64".to_owned(), base64(20_000).into_bytes()),
        ("unicode".to_owned(), unicode(2000).into_bytes()),
        ("wide object".to_owned(), wide(5000).into_bytes()),
        ("dense keys".to_owned(), dense(800).into_bytes()),
    ];
    if let Some(directory) = std::env::var_os("COUNTERSIGN_TEST_DATA") {
        let directory = std::path::Path::new(&directory).join("bench");
        let Ok(entries) = std::fs::read_dir(directory) else {
            return inputs;
        };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths
            .iter()
            .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        {
            let name = path
                .file_stem()
                .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            if let Ok(bytes) = std::fs::read(path)
                && serde_json::from_slice::<IgnoredAny>(&bytes).is_ok()
            {
                inputs.push((name, bytes));
            }
        }
    } else {
        println!("COUNTERSIGN_TEST_DATA is not set: only generated inputs");
    }
    inputs
}

fn record(n: usize) -> String {
    format!(
        r#"{{"id":{n},"name":"item number {n}","price":{n}.25,"tags":["new","sale"],"active":true,"seller":{{"id":"s-{n}","rating":4.5,"country":"NO"}},"note":null}}"#
    )
}

fn records(count: usize) -> String {
    let all: Vec<String> = (0..count).map(record).collect();
    format!(r#"{{"items":[{}],"total":{count}}}"#, all.join(","))
}

fn pretty(text: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(text).expect("valid JSON");
    serde_json::to_string_pretty(&value).expect("serialisable")
}

fn numbers(count: usize) -> String {
    let all: Vec<String> = (0..count)
        .map(|n| format!("{}", n * 7919 % 100_000))
        .collect();
    format!("[{}]", all.join(","))
}

fn long_text(lines: usize) -> String {
    let line = r"a line of ordinary prose with an escape at its end\n";
    format!(r#"{{"type":"text","text":"{}"}}"#, line.repeat(lines))
}

fn base64(repeat: usize) -> String {
    format!(
        r#"{{"type":"image","data":"{}"}}"#,
        "QUJDREVG".repeat(repeat)
    )
}

fn unicode(lines: usize) -> String {
    format!(
        r#"{{"type":"text","text":"{}"}}"#,
        "Blåbærsyltetøy på skiver, 東京 😀. ".repeat(lines)
    )
}

fn wide(count: usize) -> String {
    let all: Vec<String> = (0..count)
        .map(|n| format!(r#""property_{n}":{n}"#))
        .collect();
    format!("{{{}}}", all.join(","))
}

fn dense(count: usize) -> String {
    let keys: Vec<String> = (0..30).map(|n| format!(r#""k{n}":{}"#, n % 10)).collect();
    let all = vec![format!("{{{}}}", keys.join(",")); count];
    format!("[{}]", all.join(","))
}
