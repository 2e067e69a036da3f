//! Figures of the embedded store, printed as ratios to a naive baseline of the same run.
//!
//! `cargo bench -p countersign-audit` takes about half a minute; with the argument `postgres` the figures are those of the shared
//! backend. With `reading` only reading is measured, and with `AUDIT_BENCH_MILLION=1` at one million records too. With `batch`
//! only what a record costs in the Merkle tree of its batch. The last lines say which of the figures promised were reached in
//! this run.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[path = "store/postgres.rs"]
mod postgres;
#[path = "store/reading.rs"]
mod reading;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_audit::{
    Decision, Durability, Evidence, Finding, Kind, Mode, Options, Outcome, Record, Retention,
    Severity, Stage, Stats, Store,
};

/// The tree itself is not public, so it is compiled once more here.
mod digest {
    pub(crate) use countersign_audit::Digest;
}
#[path = "../src/proof/merkle.rs"]
#[expect(dead_code, reason = "only what a writer does is measured")]
mod merkle;

use reading::FilledStore;

const CALLERS: usize = 64;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [argument, url, dir] = &*arguments
        && argument == "writer"
    {
        return postgres::write(url, Path::new(dir));
    }
    let is_asked = |what: &str| arguments.iter().any(|argument| argument == what);
    batch();
    if is_asked("batch") {
        return;
    }
    let dir = tempfile::tempdir().expect("temp dir");
    let mut promised = Vec::new();
    let is_whole = !is_asked("reading");
    if is_asked("postgres") {
        if is_whole {
            postgres::writing(dir.path());
        }
        postgres::reading(dir.path(), &mut promised);
    } else {
        if is_whole {
            committing(dir.path(), &mut promised);
        }
        embedded(dir.path(), &mut promised);
    }
    println!("promised");
    for (line, kept) in promised {
        println!("  {} {line}", if kept { "kept  " } else { "MISSED" });
    }
}

/// What a record costs the writer besides its hash: a leaf in the tree that its checkpoint signs.
fn batch() {
    const RECORDS: u32 = 1_000_000;
    let hash = digest::Digest::sha256(b"a record");
    let begun = Instant::now();
    let mut tree = merkle::Frontier::default();
    for n in 0..RECORDS {
        if n % 1000 == 0 {
            tree = merkle::Frontier::default();
        }
        tree.push(merkle::leaf_hash(hash.as_bytes()));
    }
    let each = begun.elapsed().as_secs_f64() * 1e9 / f64::from(RECORDS);
    println!(
        "a leaf in the tree of a batch: {each:.0} ns (root {})",
        tree.root()
    );
}

/// Figures of reading the embedded store.
fn embedded(dir: &Path, promised: &mut Vec<(String, bool)>) {
    println!("reading");
    let fill = |name, count| FilledStore::new(&Options::new(dir.join(name)), count);
    let mut stores = vec![fill("small", 10_000)];
    if is_million() {
        stores.push(fill("large", 1_000_000));
    }
    reading::compare(&stores, promised);
    stores.into_iter().for_each(reading::rebuild);
}

/// Whether reading is measured at a million records too.
fn is_million() -> bool {
    std::env::var_os("AUDIT_BENCH_MILLION").is_some()
}

/// Figures of writing, under a crowd of callers and without one.
fn committing(dir: &Path, promised: &mut Vec<(String, bool)>) {
    println!("commit, {CALLERS} callers");
    let naive = baseline(dir);
    println!(
        "  {:<30} {naive:>9.0} records/s",
        "fsync per record, plain file"
    );
    for (name, durability) in [
        ("commit", Durability::Commit),
        ("sync", Durability::Sync),
        ("async", Durability::Async),
    ] {
        let mut options = Options::new(dir.join(name));
        options.durability = durability;
        let figure = committed(options, CALLERS, 2000);
        figure.print(&format!("durability {name}"), naive);
        if durability == Durability::Commit {
            let ratio = figure.per_second / naive;
            promised.push((
                format!("{CALLERS} callers commit {ratio:.1}x as fast as with an fsync per record (at least 20x)"),
                ratio >= 20.0,
            ));
        }
    }
    paced(&dir.join("paced"), naive);
    for callers in [1, 16] {
        let options = Options::new(dir.join(format!("few{callers}")));
        let figure = committed(options, callers, 20_000 / callers);
        figure.print(&format!("commit, {callers} caller(s)"), naive);
    }
}

/// Records that come one by one, as from a gateway that is not busy: what one costs when there is no crowd to share with.
fn paced(dir: &Path, naive: f64) {
    for (name, durability) in [("commit", Durability::Commit), ("async", Durability::Async)] {
        let mut options = Options::new(dir.join(name));
        options.durability = durability;
        options.retention = Retention::FOR_EVER;
        let store = Store::open(&options).expect("opens");
        let (cpu, start) = (cpu_time(), Instant::now());
        let mut waits = Vec::new();
        for i in 0..4000 {
            let (record, asked) = (record(&store, i), Instant::now());
            let evidence = store.commit_blocking((), [record]).evidence();
            assert_ne!(evidence, Evidence::StoreDown);
            waits.push(u64::try_from(asked.elapsed().as_micros()).unwrap_or(u64::MAX));
            std::thread::sleep(Duration::from_micros(500));
        }
        while store.stats().committed < 4000 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let used = cpu_time().saturating_sub(cpu);
        let stats = store.stats();
        let records = count_f64(stats.committed);
        let figure = Figure {
            per_second: records / start.elapsed().as_secs_f64(),
            cpu_micros: used.as_secs_f64() * 1e6 / records,
            group: records / count_f64(stats.transactions),
            half: percentile(&mut waits, 50),
            most: percentile(&mut waits, 99),
        };
        figure.print(&format!("{name}, one every 0.5 ms"), naive);
    }
}

struct Figure {
    per_second: f64,
    cpu_micros: f64,
    group: f64,
    /// Microseconds that half, and 99 in a hundred, of the commits took at most.
    half: u64,
    most: u64,
}

impl Figure {
    fn print(&self, name: &str, naive: f64) {
        let Self {
            per_second,
            cpu_micros,
            group,
            half,
            most,
        } = self;
        println!(
            "  {name:<30} {per_second:>9.0} records/s {:>6.1}x {cpu_micros:>5.1} µs CPU/record {group:>6.1} records/transaction, p50 {half} µs, p99 {most} µs",
            per_second / naive
        );
    }
}

fn percentile(values: &mut [u64], percent: usize) -> u64 {
    values.sort_unstable();
    values
        .get(values.len() * percent / 100)
        .copied()
        .unwrap_or_default()
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

fn committed(mut options: Options, callers: usize, each: usize) -> Figure {
    options.retention = Retention::FOR_EVER;
    // Room for everything: what is dropped is not a figure.
    options.queue = (callers * each).max(4096);
    let store = Store::open(&options).expect("opens");
    let cpu = cpu_time();
    let (mut waits, stats, elapsed) = commit_all(&store, callers, each);
    let used = cpu_time().saturating_sub(cpu);
    let records = count_f64(stats.committed);
    Figure {
        per_second: records / elapsed.as_secs_f64(),
        cpu_micros: used.as_secs_f64() * 1e6 / records,
        group: records / count_f64(stats.transactions),
        half: percentile(&mut waits, 50),
        most: percentile(&mut waits, 99),
    }
}

/// Writes with many callers at once, and closes the store. Gives the microseconds that each commit took, what the store
/// counted, and how long all of it took.
fn commit_all(store: &Store, callers: usize, each: usize) -> (Vec<u64>, Stats, Duration) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("runtime");
    runtime.spawn(store.deliver());
    let start = Instant::now();
    let mut waits: Vec<u64> = Vec::with_capacity(callers * each);
    runtime.block_on(async {
        let tasks: Vec<_> = (0..callers)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move {
                    let mut waits = Vec::with_capacity(each);
                    for i in 0..each {
                        let (record, asked) = (record(&store, i), Instant::now());
                        let evidence = store.commit((), [record]).await.evidence();
                        assert_ne!(evidence, Evidence::StoreDown);
                        waits.push(u64::try_from(asked.elapsed().as_micros()).unwrap_or(u64::MAX));
                    }
                    waits
                })
            })
            .collect();
        for task in tasks {
            waits.extend(task.await.expect("task"));
        }
        store.close().await;
    });
    (waits, store.stats(), start.elapsed())
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
            hit: None,
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
    // One caller has a handful of records, all of them old.
    let is_rare = i < 20;
    record.caller = Some(if is_rare {
        "key:rare".into()
    } else {
        format!("key:{}", i % 50)
    });
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
