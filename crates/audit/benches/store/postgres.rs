//! Figures of the shared backend, on a PostgreSQL of this machine: `cargo bench -p countersign-audit -- postgres`.
//!
//! Writers are processes of their own, as gateways are: this program starts itself with the argument `writer`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use countersign_audit::{Durability, Options};
use countersign_fixture::postgres::Cluster;

use super::{CALLERS, Figure, committed, compare, cpu_time, reading};

/// Records that each caller of each process writes.
const EACH: usize = 400;
const SIGNING_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
/// As a server that is used for this has it.
const SETTINGS: [&str; 2] = ["shared_buffers=256MB", "max_wal_size=4GB"];

fn options(dir: &Path, url: String) -> Options {
    let mut options = Options::new(dir);
    options.postgres_url = Some(url);
    options.signing_key = Some(SIGNING_KEY.to_owned());
    options
}

/// All figures.
pub(super) fn figures(dir: &Path, promised: &mut Vec<(String, bool)>) {
    println!("reading, PostgreSQL");
    let read = |name: &str, count| {
        let cluster = Cluster::start_with(&SETTINGS);
        reading(&options(&dir.join(name), cluster.url()), count)
    };
    let small = read("small", 10_000);
    if std::env::var_os("AUDIT_BENCH_MILLION").is_some() {
        compare(&small, &read("large", 1_000_000), promised);
    }
    println!("commit, {CALLERS} callers in each process");
    let sqlite = committed(Options::new(dir.join("sqlite")), CALLERS, EACH);
    println!(
        "  SQLite, 1 process: {:>8.0} records/s, {:.1} µs CPU/record",
        sqlite.per_second, sqlite.cpu_micros
    );
    let mut alone = None;
    for processes in [1, 2, 4] {
        let rate = throughput(&dir.join(format!("writers{processes}")), processes);
        let ratio = rate / *alone.get_or_insert(rate);
        println!("    {ratio:.2}x the rate of one process");
    }
}

/// Records a second of several processes on one database.
fn throughput(dir: &Path, processes: usize) -> f64 {
    let cluster = Cluster::start_with(&SETTINGS);
    let this = std::env::current_exe().expect("this program");
    let database = cluster.cpu_time();
    let children: Vec<_> = (0..processes)
        .map(|number| {
            let mut writer = Command::new(&this);
            writer.arg("writer").arg(cluster.url());
            writer.arg(dir.join(number.to_string()));
            let child = writer.stdout(Stdio::piped()).spawn();
            child.expect("a writer starts")
        })
        .collect();
    let (mut rate, mut cpu) = (0.0, 0.0);
    for child in children {
        let output = child.wait_with_output().expect("a writer ends");
        let text = String::from_utf8_lossy(&output.stdout);
        let mut figures = text.split_whitespace().map(str::parse::<f64>);
        let mut figure = || figures.next().expect("a figure").expect("a number");
        rate += figure();
        cpu += figure();
    }
    let records = super::count_f64((processes * CALLERS * EACH) as u64);
    let database = cluster.cpu_time().saturating_sub(database).as_secs_f64() * 1e6 / records;
    let gateway = cpu / super::count_f64(processes as u64);
    println!(
        "  PostgreSQL, {processes} process(es): {rate:>8.0} records/s, {gateway:.1} µs CPU/record in the gateway, {database:.1} in the database"
    );
    rate
}

/// One of the processes: writes, and prints its rate and its CPU time for each record.
pub(super) fn write(url: &str, dir: &Path) {
    let mut options = options(dir, url.to_owned());
    options.durability = Durability::Commit;
    options.store_timeout = Duration::from_mins(5);
    let before = cpu_time();
    let Figure { per_second, .. } = committed(options, CALLERS, EACH);
    let used = cpu_time().saturating_sub(before).as_secs_f64() * 1e6;
    let records = super::count_f64((CALLERS * EACH) as u64);
    println!("{per_second} {}", used / records);
}
