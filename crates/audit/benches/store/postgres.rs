//! Figures of the shared backend, on a PostgreSQL of this machine: `cargo bench -p countersign-audit -- postgres`.
//!
//! Writers are processes of their own, as gateways are: this program starts itself with the argument `writer`. Each
//! number of writers has its turn in every round, so that a machine that is busy with other things slows all of them.

use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use countersign_audit::{Durability, Options, Store};
use countersign_fixture::postgres::Cluster;

use super::reading::{self, FilledStore};
use super::{CALLERS, commit_all, committed, cpu_time};

/// Records that each caller of each process writes.
const EACH: usize = 800;
const ROUNDS: usize = 3;
const SIGNING_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
/// As a server that is used for this has it.
const SETTINGS: [&str; 2] = ["shared_buffers=256MB", "max_wal_size=4GB"];

fn options(dir: &Path, url: String) -> Options {
    let mut options = Options::new(dir);
    options.postgres_url = Some(url);
    options.signing_key = Some(SIGNING_KEY.to_owned());
    options
}

/// Figures of writing, by several processes.
pub(super) fn writing(dir: &Path) {
    println!("commit, {CALLERS} callers in each process, {ROUNDS} rounds");
    for round in 0..ROUNDS {
        let sqlite = dir.join(format!("sqlite{round}"));
        let sqlite = committed(Options::new(sqlite), CALLERS, EACH);
        println!(
            "  SQLite, 1 process:       {:>7.0} records/s          {:>5.1} µs CPU/record",
            sqlite.per_second, sqlite.cpu_micros
        );
        let mut alone = None;
        for processes in [1, 2, 4] {
            let writers = dir.join(format!("writers{round}-{processes}"));
            let shared = throughput(&writers, processes);
            let ratio = shared.rate / *alone.get_or_insert(shared.rate);
            shared.print(processes, ratio);
        }
    }
}

/// Figures of reading.
pub(super) fn reading(dir: &Path, promised: &mut Vec<(String, bool)>) {
    println!("reading, PostgreSQL");
    let fill = |name, count| {
        let cluster = Cluster::start_with(&SETTINGS);
        let store = FilledStore::new(&options(&dir.join(name), cluster.url()), count);
        // As autovacuum does within a minute or so.
        cluster.sql("ANALYZE countersign.activity, countersign.found");
        (cluster, store)
    };
    let mut filled = vec![fill("small", 10_000)];
    if super::is_million() {
        filled.push(fill("large", 1_000_000));
    }
    // The databases run until all is measured.
    let (_clusters, stores): (Vec<Cluster>, Vec<FilledStore>) = filled.into_iter().unzip();
    reading::compare(&stores, promised);
}

/// What several processes on one database reach together.
struct SharedFigure {
    /// Records a second.
    rate: f64,
    /// Microseconds of processor time for each record, in the processes that write and in the database.
    writers: f64,
    database: f64,
    /// Processors that both used on average.
    cores: f64,
}

impl SharedFigure {
    fn print(&self, processes: usize, ratio: f64) {
        let Self {
            rate,
            writers,
            database,
            cores,
        } = self;
        println!(
            "  PostgreSQL, {processes} process(es): {rate:>7.0} records/s, {ratio:.2}x, {writers:>5.1} µs CPU/record in the gateway, {database:>5.1} in the database, {cores:.2} cores in use"
        );
    }
}

/// Starts the processes, has all of them begin at once, and waits for the last one.
fn throughput(dir: &Path, processes: usize) -> SharedFigure {
    let cluster = Cluster::start_with(&SETTINGS);
    let mut children: Vec<Writer> = (0..processes)
        .map(|number| Writer::start(&cluster.url(), &dir.join(number.to_string())))
        .collect();
    children.iter_mut().for_each(Writer::await_ready);
    let (database, start) = (cluster.cpu_time(), Instant::now());
    children.iter_mut().for_each(Writer::begin);
    let used: f64 = children.iter_mut().map(Writer::finish).sum();
    let elapsed = start.elapsed().as_secs_f64();
    let database = cluster.cpu_time().saturating_sub(database).as_secs_f64() * 1e6;
    let records = super::count_f64((processes * CALLERS * EACH) as u64);
    SharedFigure {
        rate: records / elapsed,
        writers: used / records,
        database: database / records,
        cores: (used + database) / 1e6 / elapsed,
    }
}

/// A process that writes.
struct Writer {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Writer {
    fn start(url: &str, dir: &Path) -> Self {
        let mut writer = Command::new(std::env::current_exe().expect("this program"));
        writer.arg("writer").arg(url).arg(dir);
        let writer = writer.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = writer.spawn().expect("a writer starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, output }
    }

    fn await_ready(&mut self) {
        let mut line = [0; 6];
        self.output.read_exact(&mut line).expect("a line");
        assert_eq!(&line, b"ready\n");
    }

    fn begin(&mut self) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        input.write_all(b"begin\n").expect("it listens");
    }

    /// Waits until everything is written. Gives the microseconds of processor time that it took.
    fn finish(&mut self) -> f64 {
        let mut text = String::new();
        self.output.read_to_string(&mut text).expect("a figure");
        assert!(self.child.wait().expect("it ends").success());
        text.trim().parse().expect("a number")
    }
}

/// One of the processes: connects, waits for the others, writes, and prints its processor time in microseconds.
pub(super) fn write(url: &str, dir: &Path) {
    let mut options = options(dir, url.to_owned());
    options.durability = Durability::Commit;
    options.store_timeout = Duration::from_mins(5);
    options.queue = CALLERS * EACH;
    let store = Store::open(&options).expect("opens");
    println!("ready");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a line");
    let before = cpu_time();
    drop(commit_all(&store, CALLERS, EACH));
    println!("{}", cpu_time().saturating_sub(before).as_secs_f64() * 1e6);
}
