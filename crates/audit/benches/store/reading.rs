//! Figures of reading: every question to a store of ten thousand records and to one of a million, in turns, so that a machine
//! that is busy for a moment slows both.

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use countersign_audit::{
    Evidence, ExportFormat, Filter, GroupBy, Options, Query, Reader, Record, Retention, Store,
    Timestamp, TrustedKeys, Ulid,
};

use super::{count_f64, cpu_time, record};

/// Lists by their filters.
const LISTS: [(&str, &[(&str, &str)]); 18] = [
    ("list", &[]),
    ("list --status blocked", &[("status", "blocked")]),
    (
        "list --server --tool",
        &[("server", "server3"), ("tool", "tool8")],
    ),
    (
        "list --type,rule",
        &[("type", "policy_decision"), ("rule", "schema.type")],
    ),
    ("list --caller", &[("caller", "key:7")]),
    ("list --caller, rare", &[("caller", "key:rare")]),
    ("list --caller, none", &[("caller", "key:none")]),
    (
        "list --caller --server",
        &[("caller", "key:7"), ("server", "server2")],
    ),
    ("list --since 1h", &[("since", "1h")]),
    ("list --request-id", &[("request_id", "77")]),
    ("list --request-id, none", &[("request_id", "none")]),
    (
        "list --status --server",
        &[("status", "blocked"), ("server", "server4")],
    ),
    (
        "list --status --since",
        &[("status", "blocked"), ("since", "1h")],
    ),
    // The smaller store has thirteen of these, so a page of ten is full in both.
    (
        "list --status,server,tool",
        &[
            ("status", "blocked"),
            ("server", "server4"),
            ("tool", "tool8"),
            ("limit", "10"),
        ],
    ),
    (
        "list --status,server, none",
        &[("status", "rejected"), ("server", "server3")],
    ),
    // Each part has many records, but none has both.
    (
        "list --status,server, no both",
        &[("status", "blocked"), ("server", "server3")],
    ),
    (
        "list --caller,server, no both",
        &[("caller", "key:7"), ("server", "server3")],
    ),
    (
        "list --status --tool",
        &[("status", "blocked"), ("tool", "tool8"), ("limit", "10")],
    ),
];

/// A store with records, to be asked.
pub(super) struct FilledStore {
    store: Store,
    options: Options,
    count: usize,
    /// Records to show, and the next of them.
    ids: Vec<Ulid>,
    turn: Cell<usize>,
}

impl FilledStore {
    pub(super) fn new(options: &Options, count: usize) -> Self {
        let mut options = options.clone();
        options.retention = Retention::FOR_EVER;
        let store = Store::open(&options).expect("opens");
        let (cpu, start) = (cpu_time(), Instant::now());
        let mut ids = Vec::new();
        for chunk in 0..count / 500 {
            let records: Vec<Record> = (0..500).map(|i| record(&store, chunk * 500 + i)).collect();
            ids.extend(records.iter().step_by(499).map(Record::id));
            let committed = store.commit_blocking((), records);
            assert_eq!(committed.evidence(), Evidence::Committed);
        }
        // The start of the store is a record too.
        while store.stats().indexed < count as u64 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let used = (cpu_time().saturating_sub(cpu)).as_secs_f64() * 1e6 / count_f64(count as u64);
        println!(
            "  {count} records written and indexed in {:.1} s, {used:.1} µs CPU/record, {:.1} MB",
            start.elapsed().as_secs_f64(),
            megabytes(&options.data_dir, "")
        );
        Self {
            store,
            options,
            count,
            ids,
            turn: Cell::new(0),
        }
    }

    fn list(&self, query: &Query) {
        let page = self.store.reader().list(query).expect("list");
        std::hint::black_box(page);
    }

    fn show(&self) {
        let id = self.ids[self.turn.get() % self.ids.len()];
        self.turn.set(self.turn.get() + 1);
        std::hint::black_box(self.store.reader().show(id).expect("show"));
    }

    fn show_unknown(&self, unknown: Ulid) {
        assert_eq!(self.store.reader().show(unknown).expect("show"), None);
    }

    fn summarise(&self, now: Timestamp) {
        let day = Duration::from_hours(24);
        let summary = self.store.reader().summary(GroupBy::Server, day, now);
        std::hint::black_box(summary.expect("summary"));
    }
}

/// Asks all stores everything. With a second, larger one: says what may be at most twice as much there.
pub(super) fn compare(stores: &[FilledStore], promised: &mut Vec<(String, bool)>) {
    let now = Timestamp::now();
    for (name, pairs) in LISTS {
        let query = Query::from_pairs(pairs.iter().copied(), now).expect("query");
        report(name, stores, promised, |store| store.list(&query));
    }
    report("show", stores, promised, FilledStore::show);
    let unknown = stores[0].store.next_id().id;
    report("show, none", stores, promised, |store| {
        store.show_unknown(unknown);
    });
    report("summary --period 24h", stores, promised, |store| {
        store.summarise(now);
    });
    for store in stores {
        let (count, grown) = (store.count, export(&store.store));
        verify(&store.store, &store.options.data_dir);
        if count > 100_000 {
            let line = format!(
                "exporting {count} records: {grown:.1} MB more resident (flat: at most 8 MB)"
            );
            promised.push((line, grown <= 8.0));
        }
    }
}

/// The least time of many runs in turns.
fn report(
    name: &str,
    stores: &[FilledStore],
    promised: &mut Vec<(String, bool)>,
    ask: impl Fn(&FilledStore),
) {
    let mut least = vec![Duration::MAX; stores.len()];
    for _ in 0..300 {
        for (store, least) in stores.iter().zip(&mut least) {
            let start = Instant::now();
            ask(store);
            *least = (*least).min(start.elapsed());
        }
    }
    let micros: Vec<f64> = least.iter().map(|time| time.as_secs_f64() * 1e6).collect();
    print!("  {name:<30}");
    for (store, micros) in stores.iter().zip(&micros) {
        print!(" {:>8} records {micros:>7.0} µs", store.count);
    }
    println!();
    if let [small, large] = micros[..] {
        let ratio = large / small;
        let line = format!("{name}: {ratio:.2}x the time at 1 M records as at 10 k (at most 2x)");
        promised.push((line, ratio <= 2.0));
    }
}

/// The index built from nothing, on one thread: what indexing costs. The least of three.
pub(super) fn rebuild(
    FilledStore {
        options,
        count,
        store,
        ..
    }: FilledStore,
) {
    drop(store);
    let once = || {
        for suffix in ["", "-wal", "-shm"] {
            fs::remove_file(options.data_dir.join(format!("activity-index.db{suffix}"))).ok();
        }
        let cpu = thread_cpu_time();
        drop(Reader::open(&options).expect("reader"));
        thread_cpu_time().saturating_sub(cpu)
    };
    let used = (0..3).map(|_| once()).min().unwrap_or_default();
    let micros = used.as_secs_f64() * 1e6 / count_f64(count as u64);
    println!(
        "  {count:>8} records, index built anew: {micros:.2} µs CPU/record, {:.1} MB",
        megabytes(&options.data_dir, "activity-index.db")
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

/// Of the files with names that begin so.
fn megabytes(dir: &Path, prefix: &str) -> f64 {
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

/// User and system time of this thread, from the kernel's scheduler.
fn thread_cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next();
    Duration::from_nanos(nanos.and_then(|n| n.parse().ok()).unwrap_or_default())
}
