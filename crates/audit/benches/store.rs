//! Figures of the embedded store, printed as ratios to a naive baseline of the same run.
//!
//! `cargo bench -p countersign-audit` takes about half a minute. With `AUDIT_BENCH_MILLION=1` the reading figures are also taken
//! at one million records; with the argument `reading` only those figures are taken, with `postgres` those of the shared
//! backend, with `batch` only what a record costs in the Merkle tree of its batch. The last lines say which of the figures
//! promised were reached in this run.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[path = "store/postgres.rs"]
mod postgres;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_audit::{
    Decision, Durability, Evidence, ExportFormat, Filter, Finding, GroupBy, Kind, Mode, Options,
    Outcome, Query, Reader, Record, Retention, Severity, Stage, Stats, Store, Timestamp,
    TrustedKeys,
};

/// The tree itself is not public, so it is compiled once more here.
mod digest {
    pub(crate) use countersign_audit::Digest;
}
#[path = "../src/proof/merkle.rs"]
#[expect(dead_code, reason = "only what a writer does is measured")]
mod merkle;

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
    if is_asked("postgres") {
        postgres::figures(dir.path(), &mut promised);
    } else {
        if !is_asked("reading") {
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
    let read = |name: &str, count| {
        let options = Options::new(dir.join(name));
        let figures = reading(&options, count);
        rebuild(&options, count);
        figures
    };
    let small = read("small", 10_000);
    if std::env::var_os("AUDIT_BENCH_MILLION").is_some() {
        compare(&small, &read("large", 1_000_000), promised);
    }
}

/// What reading takes, in microseconds, and by how many megabytes an export grows the process.
type ReadingFigures = (Vec<(&'static str, f64)>, f64);

/// Compares the figures at ten thousand and at a million records.
fn compare(
    (small, _): &ReadingFigures,
    (large, grown): &ReadingFigures,
    promised: &mut Vec<(String, bool)>,
) {
    for ((name, before), (_, after)) in small.iter().zip(large) {
        let ratio = after / before;
        println!("  {name:<28} 1 M against 10 k records: {ratio:>6.2}x");
        let line = format!("{name}: {ratio:.2}x the time at 1 M records as at 10 k (at most 2x)");
        promised.push((line, ratio <= 2.0));
    }
    let line = format!("exporting 1 M records: {grown:.1} MB more resident (flat: at most 8 MB)");
    promised.push((line, *grown <= 8.0));
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

/// Microseconds of each kind of question at `count` records: the least of many runs.
/// And by how many megabytes the process grows while exporting them.
fn reading(options: &Options, count: usize) -> ReadingFigures {
    let mut options = options.clone();
    options.retention = Retention::FOR_EVER;
    let store = Store::open(&options).expect("opens");
    let dir = &*options.data_dir;
    let (cpu, start) = (cpu_time(), Instant::now());
    let mut ids = Vec::new();
    for chunk in 0..count / 500 {
        let records: Vec<Record> = (0..500).map(|i| record(&store, chunk * 500 + i)).collect();
        ids.extend(records.iter().step_by(499).map(Record::id));
        assert_eq!(
            store.commit_blocking((), records).evidence(),
            Evidence::Committed
        );
    }
    // The start of the store is a record too.
    while store.stats().indexed < count as u64 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let used = (cpu_time().saturating_sub(cpu)).as_secs_f64() * 1e6 / count_f64(count as u64);
    println!(
        "  {count} records written and indexed in {:.1} s, {used:.1} µs CPU/record, {:.1} MB",
        start.elapsed().as_secs_f64(),
        megabytes(dir)
    );
    let now = Timestamp::now();
    let mut figures = list_figures(&store, now);
    let mut turn = ids.iter().cycle();
    let show = least(500, || {
        turn.next()
            .map(|id| store.reader().show(*id).expect("show"))
    });
    figures.push(("show", show));
    let unknown = store.next_id().id;
    let miss = least(500, || store.reader().show(unknown).expect("show"));
    figures.push(("show, none", miss));
    let day = Duration::from_hours(24);
    let summary = least(50, || {
        store
            .reader()
            .summary(GroupBy::Server, day, now)
            .expect("summary")
    });
    figures.push(("summary --period 24h", summary));
    for (name, micros) in &figures {
        println!("  {count:>8} records, {name:<28} {micros:>8.0} µs");
    }
    let grown = export(&store);
    verify(&store, dir);
    (figures, grown)
}

/// Microseconds of lists with and without filters: the least of many runs.
fn list_figures(store: &Store, now: Timestamp) -> Vec<(&'static str, f64)> {
    let list = |pairs: &[(&str, &str)]| {
        let query = Query::from_pairs(pairs.iter().copied(), now).expect("query");
        least(200, || store.reader().list(&query).expect("list"))
    };
    vec![
        ("list", list(&[])),
        ("list --status blocked", list(&[("status", "blocked")])),
        (
            "list --server --tool",
            list(&[("server", "server3"), ("tool", "tool8")]),
        ),
        (
            "list --type,rule",
            list(&[("type", "policy_decision"), ("rule", "schema.type")]),
        ),
        ("list --caller", list(&[("caller", "key:7")])),
        ("list --caller, rare", list(&[("caller", "key:rare")])),
        ("list --caller, none", list(&[("caller", "key:none")])),
        (
            "list --caller --server",
            list(&[("caller", "key:7"), ("server", "server3")]),
        ),
        ("list --since 1h", list(&[("since", "1h")])),
        ("list --request-id", list(&[("request_id", "77")])),
        ("list --request-id, none", list(&[("request_id", "none")])),
        (
            "list --status --server",
            list(&[("status", "blocked"), ("server", "server4")]),
        ),
        (
            "list --status --since",
            list(&[("status", "blocked"), ("since", "1h")]),
        ),
        (
            "list --status,server,tool",
            list(&[
                ("status", "blocked"),
                ("server", "server4"),
                ("tool", "tool8"),
            ]),
        ),
        (
            "list --status,server, none",
            list(&[("status", "rejected"), ("server", "server3")]),
        ),
        // Many records are blocked, and many are of this server, but none is both.
        (
            "list --status,server, no both",
            list(&[("status", "blocked"), ("server", "server3")]),
        ),
        (
            "list --status --tool",
            list(&[("status", "blocked"), ("tool", "tool8")]),
        ),
    ]
}

/// The index built from nothing, on one thread: what indexing costs. The least of three.
fn rebuild(options: &Options, count: usize) {
    let once = || {
        for suffix in ["", "-wal", "-shm"] {
            fs::remove_file(options.data_dir.join(format!("activity-index.db{suffix}"))).ok();
        }
        let cpu = thread_cpu_time();
        drop(Reader::open(options).expect("reader"));
        thread_cpu_time().saturating_sub(cpu)
    };
    let used = (0..3).map(|_| once()).min().unwrap_or_default();
    let micros = used.as_secs_f64() * 1e6 / count_f64(count as u64);
    println!(
        "  {count:>8} records, index built anew: {micros:.2} µs CPU/record, {:.1} MB",
        megabytes_of(&options.data_dir, "activity-index.db")
    );
}

fn export(store: &Store) -> f64 {
    let (before, start) = (resident(), Instant::now());
    let mut grown: f64 = 0.0;
    for format in [ExportFormat::Jsonl, ExportFormat::Csv] {
        let mut out = Counted { bytes: 0, peak: 0 };
        let count = store
            .reader()
            .export(&Filter::default(), format, &mut out)
            .expect("export");
        println!(
            "  export {format:?}: {count} records, {:.1} MB, {:.1} s so far, resident {before:.1} MB before, {:.1} MB at most",
            count_f64(out.bytes) / 1e6,
            start.elapsed().as_secs_f64(),
            count_f64(out.peak) / 1e6
        );
        grown = grown.max(count_f64(out.peak) / 1e6 - before);
    }
    grown
}

fn verify(store: &Store, dir: &Path) {
    let start = Instant::now();
    let trusted = TrustedKeys::of_data_dir(dir).expect("keys");
    let verification = store.reader().verify(&trusted).expect("verify");
    assert!(verification.is_intact(), "{verification:?}");
    println!(
        "  verify: {} records in {:.1} s",
        verification.records,
        start.elapsed().as_secs_f64()
    );
}

/// Counts what it is given and looks at the process's memory now and then.
struct Counted {
    bytes: u64,
    peak: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes >> 20 != (self.bytes + bytes.len() as u64) >> 20 {
            self.peak = self.peak.max(resident_bytes());
        }
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn resident_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok())
        .unwrap_or_default()
        * 4096
}

fn resident() -> f64 {
    count_f64(resident_bytes()) / 1e6
}

fn megabytes(dir: &Path) -> f64 {
    megabytes_of(dir, "")
}

/// Of the files with names that begin so.
fn megabytes_of(dir: &Path, prefix: &str) -> f64 {
    let files = fs::read_dir(dir).expect("dir");
    count_f64(
        files
            .filter_map(Result::ok)
            .filter(|file| file.file_name().to_string_lossy().starts_with(prefix))
            .filter_map(|file| file.metadata().ok())
            .map(|metadata| metadata.len())
            .sum(),
    ) / 1e6
}

fn least<T>(runs: usize, mut run: impl FnMut() -> T) -> f64 {
    let mut best = Duration::MAX;
    for _ in 0..runs {
        let start = Instant::now();
        std::hint::black_box(run());
        best = best.min(start.elapsed());
    }
    best.as_secs_f64() * 1e6
}

/// User and system time of this thread, from the kernel's scheduler.
fn thread_cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next();
    Duration::from_nanos(nanos.and_then(|n| n.parse().ok()).unwrap_or_default())
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
