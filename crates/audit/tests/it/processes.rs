//! Several processes on one store, and processes that die.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use countersign_audit::{Evidence, Store};

use crate::support::{DataDir, blocked, call, options};

const DIR: &str = "AUDIT_TEST_DIR";
const COUNT: &str = "AUDIT_TEST_COUNT";
const CALLS: &str = "AUDIT_TEST_CALLS";
/// As many calls under way that records are committed to the journal.
const MANY_CALLS: usize = 8;

/// Started by the tests below as a process of its own: four threads write and print what was committed.
#[test]
#[ignore = "a helper process of the tests below"]
fn writer_process() {
    let dir = std::env::var(DIR).expect("directory");
    let count: usize = std::env::var(COUNT)
        .expect("count")
        .parse()
        .expect("a number");
    let calls: usize = std::env::var(CALLS)
        .expect("calls")
        .parse()
        .expect("a number");
    let mut options = options(Path::new(&dir));
    options.checkpoint_records = 20;
    let store = Store::open(&options).expect("opens");
    let _under_way: Vec<_> = (0..calls).map(|_| store.begin_call()).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for i in 0..count {
                    let records = if i % 3 == 0 {
                        blocked(store, "stub", "bad").to_vec()
                    } else {
                        vec![call(store, "files", &format!("t{thread}"))]
                    };
                    let ids: Vec<String> = records.iter().map(|r| r.id().to_string()).collect();
                    assert_eq!(
                        store.commit_blocking((), records).evidence(),
                        Evidence::Committed
                    );
                    // One write per line: what the reader of the pipe sees is what was committed.
                    let line = format!("committed {}\n", ids.join("\ncommitted "));
                    std::io::stdout()
                        .write_all(line.as_bytes())
                        .expect("printed");
                }
            });
        }
    });
}

/// A process that commits `count` records in each thread while `calls` calls are under way.
fn spawn(dir: &Path, count: usize, calls: usize) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args([
            "--ignored",
            "--exact",
            "processes::writer_process",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(DIR, dir)
        .env(COUNT, count.to_string())
        .env(CALLS, calls.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("spawned")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the lines are written by this very file"
)]
fn lines(stdout: impl std::io::Read) -> impl Iterator<Item = String> {
    BufReader::new(stdout).lines().map_while(Result::ok)
}

/// Ids the process said it committed: the first `limit` lines before `enough`, and all that was still in the pipe.
fn committed(child: &mut Child, limit: usize, mut enough: impl FnMut(&mut Child)) -> Vec<String> {
    let stdout = child.stdout.take().expect("piped");
    let mut ids = Vec::new();
    let mut told = false;
    for line in lines(stdout) {
        ids.extend(
            line.split_once("committed ")
                .map(|(_, id)| id.to_owned())
                .filter(|id| id.len() == 26),
        );
        if ids.len() >= limit && !told {
            told = true;
            enough(child);
        }
    }
    ids
}

fn stored(data_dir: &DataDir) -> HashSet<String> {
    let connection = data_dir.sqlite();
    let mut statement = connection
        .prepare("SELECT body ->> '$.id' FROM activity")
        .expect("prepared");
    let ids = statement
        .query_map([], |row| row.get::<_, String>(0))
        .expect("query");
    ids.collect::<Result<_, _>>().expect("ids")
}

#[test]
fn killed_at_any_moment_nothing_committed_is_lost_and_the_chains_verify() {
    let data_dir = DataDir::new();
    let mut known = Vec::new();
    // More by command: AUDIT_TEST_KILLS=50 cargo test -p countersign-audit killed
    let rounds = std::env::var("AUDIT_TEST_KILLS").map_or(6, |n| n.parse().expect("a number"));
    for round in 0..rounds {
        let calls = if round % 2 == 0 { MANY_CALLS } else { 0 };
        let mut child = spawn(data_dir.path(), 1_000_000, calls);
        let limit = usize::try_from(40 + round % 7 * 61).expect("small");
        known.extend(committed(&mut child, limit, |child| {
            child.kill().expect("killed");
        }));
        child.wait().expect("reaped");
        let verification = data_dir.verify();
        assert!(verification.is_intact(), "round {round}: {verification:?}");
        assert_eq!(verification.chains, round + 1);
        let stored = stored(&data_dir);
        let missing: Vec<&String> = known.iter().filter(|id| !stored.contains(*id)).collect();
        assert!(missing.is_empty(), "round {round}: {missing:?}");
    }
    assert!(known.len() as u64 >= rounds * 40);
}

#[test]
fn three_processes_share_one_file() {
    let data_dir = DataDir::new();
    let mut children: Vec<Child> = [0, MANY_CALLS, MANY_CALLS]
        .map(|calls| spawn(data_dir.path(), 60, calls))
        .into();
    let readers: Vec<_> = children
        .iter_mut()
        .map(|child| {
            let stdout = child.stdout.take().expect("piped");
            std::thread::spawn(move || lines(stdout).filter(|l| l.contains("committed ")).count())
        })
        .collect();
    let told: usize = readers
        .into_iter()
        .map(|reader| reader.join().expect("reader"))
        .sum();
    for mut child in children {
        assert!(child.wait().expect("reaped").success());
    }
    assert_eq!(told, 3 * 4 * 80);
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(
        (verification.chains, verification.after_last_checkpoint),
        (3, 0)
    );
    assert_eq!(verification.records, 3 * (4 * 80 + 2));
}
