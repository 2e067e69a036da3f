//! Figures of the embedded store, printed as ratios to a naive baseline of the same run.
//!
//! `cargo bench -p countersign-audit` takes about half a minute. With `AUDIT_BENCH_MILLION=1` the reading figures are also taken
//! at one million records.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_audit::{
    Decision, Durability, Evidence, Finding, Kind, Mode, Options, Outcome, Record, Retention,
    Severity, Stage, Store,
};

const CALLERS: usize = 64;

fn main() {
    let dir = tempfile::tempdir().expect("temp dir");
    println!("commit, {CALLERS} callers");
    let naive = baseline(dir.path());
    println!("  fsync per record, plain file      {naive:>9.0} records/s");
    for (name, durability) in [
        ("commit", Durability::Commit),
        ("sync", Durability::Sync),
        ("async", Durability::Async),
    ] {
        let figure = committed(&dir.path().join(name), durability, CALLERS, 2000);
        println!(
            "  durability {name:<8}               {:>9.0} records/s   {:>5.1}x   {:>5.1} µs CPU/record  {:>5.1} records/transaction",
            figure.per_second,
            figure.per_second / naive,
            figure.cpu_micros,
            figure.group
        );
    }
    for callers in [1, 16] {
        let figure = committed(
            &dir.path().join(format!("few{callers}")),
            Durability::Commit,
            callers,
            20_000 / callers,
        );
        println!(
            "  {callers:>2} caller(s), commit              {:>9.0} records/s            {:>5.1} µs CPU/record  {:>5.1} records/transaction",
            figure.per_second, figure.cpu_micros, figure.group
        );
    }
}

struct Figure {
    per_second: f64,
    cpu_micros: f64,
    group: f64,
}

/// What a simple program does: one file, one lock, one flush per record.
fn baseline(dir: &Path) -> f64 {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(dir.join("naive.jsonl"))
        .expect("file");
    let file = Arc::new(Mutex::new(file));
    let line = vec![b'x'; 420];
    let each = 40;
    let start = Instant::now();
    let threads: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (file, line) = (Arc::clone(&file), line.clone());
            std::thread::spawn(move || {
                for _ in 0..each {
                    let mut file = file.lock().expect("lock");
                    file.write_all(&line).expect("write");
                    file.sync_data().expect("sync");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("thread");
    }
    count_f64((CALLERS * each) as u64) / start.elapsed().as_secs_f64()
}

fn committed(dir: &Path, durability: Durability, callers: usize, each: usize) -> Figure {
    let mut options = Options::new(dir);
    options.durability = durability;
    options.retention = Retention::FOR_EVER;
    let store = Store::open(&options).expect("opens");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("runtime");
    runtime.spawn(store.deliver());
    let (cpu, start) = (cpu_time(), Instant::now());
    runtime.block_on(async {
        let tasks: Vec<_> = (0..callers)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move {
                    for i in 0..each {
                        let evidence = store.commit((), [record(&store, i)]).await.evidence();
                        assert_ne!(evidence, Evidence::StoreDown);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("task");
        }
        store.close().await;
    });
    let elapsed = start.elapsed();
    let stats = store.stats();
    drop(store);
    let used = cpu_time().saturating_sub(cpu);
    let records = count_f64(stats.committed);
    Figure {
        per_second: records / elapsed.as_secs_f64(),
        cpu_micros: used.as_secs_f64() * 1e6 / records,
        group: records / count_f64(stats.transactions),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a bench")]
fn count_f64(count: u64) -> f64 {
    count as f64
}

/// A call as the gateway writes it; every twentieth record is a decision.
fn record(store: &Store, i: usize) -> Record {
    let mut record = if i % 20 == 19 {
        let mut decision = Record::decided(store.next_id(), Decision::Blocked);
        decision.mode = Some(Mode::Strict);
        decision.reason = Some(
            "output schema validation failed: type at /id: expected integer, got string".into(),
        );
        decision.findings = vec![Finding {
            stage: Stage::Contract,
            rule: "schema.type".into(),
            severity: Severity::Violation,
            instance_pointer: Some("/id".into()),
            schema_pointer: Some("/properties/id/type".into()),
            expected: Some("integer".into()),
            actual: Some("string".into()),
            detail: None,
        }];
        decision
    } else {
        let mut call = Record::new(store.next_id(), Kind::ToolCall, Outcome::Success);
        call.validated = true;
        call.duration_ms = Some(Duration::from_micros(1834).into());
        call.request_bytes = Some(148);
        call.response_bytes = Some(2311);
        call
    };
    record.server = Some(format!("server{}", i % 5));
    record.tool = Some(format!("tool{}", i % 37));
    record.client = Some("agent 1.2.3".into());
    record.request_id = Some(i.to_string());
    record.schema_digest =
        Some("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".into());
    record.schema_generation = Some(1);
    record
}

/// User and system time of this process, from the kernel's account of it.
fn cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|t| t.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}
