//! Followers miss nothing and see nothing twice, whichever process writes.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use countersign_audit::{Evidence, Filter, Options, Store};

use super::{SIGNING_KEY, SharedLog, wait_until};
use crate::support::{blocked, call, fill, options};

const URL: &str = "AUDIT_TEST_URL";
const DIR: &str = "AUDIT_TEST_DIR";
const COUNT: &str = "AUDIT_TEST_COUNT";

fn writer_options(dir: &Path, url: String) -> Options {
    let mut options = options(dir);
    options.postgres_url = Some(url);
    options.signing_key = Some(SIGNING_KEY.to_owned());
    options.checkpoint_records = 20;
    options
}

/// Started by the tests below as a process of its own, as another gateway would be.
#[test]
#[ignore = "a helper process of the tests below"]
fn postgres_writer_process() {
    let text = |name| std::env::var(name).expect("given");
    let count: usize = text(COUNT).parse().expect("a number");
    let dir = text(DIR);
    let store = Store::open(&writer_options(Path::new(&dir), text(URL))).expect("opens");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for i in 0..count {
                    let records = if i % 3 == 0 {
                        blocked(&store, "stub", "bad").to_vec()
                    } else {
                        vec![call(&store, "files", "t")]
                    };
                    let committed = store.commit_blocking((), records).evidence();
                    assert_eq!(committed, Evidence::Committed);
                    std::io::stdout()
                        .write_all(b"committed\n")
                        .expect("printed");
                }
            });
        }
    });
}

fn spawn(dir: &Path, url: &str, count: usize) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args([
            "--ignored",
            "--exact",
            "postgres::followers::postgres_writer_process",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(DIR, dir)
        .env(URL, url)
        .env(COUNT, count.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("spawned")
}

#[test]
#[ignore = "needs PostgreSQL"]
fn two_processes_share_a_database_and_a_follower_sees_each_record_once_with_postgres() {
    let shared = SharedLog::new();
    let store = shared.open();
    let mut children = [
        spawn(shared.home.path(), &shared.cluster.url(), 60),
        spawn(shared.home.path(), &shared.cluster.url(), 60),
    ];
    // Each process: a start, a stop, and four threads with 60 calls, a third of them with a decision.
    let expected = 1 + 2 * (2 + 4 * 80);
    let (mut place, mut seen) = (0, Vec::new());
    wait_until("every record has been seen", || {
        let tail = store
            .reader()
            .records_after(place, &Filter::default(), 13)
            .expect("a tail");
        assert!(tail.records.iter().all(|record| record.seq > place));
        place = tail.next;
        seen.extend(tail.records.iter().map(|record| record.record.id()));
        seen.len() >= expected
    });
    for child in &mut children {
        assert!(child.wait().expect("reaped").success());
    }
    let distinct: std::collections::HashSet<_> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (expected, expected));
    // The store that wrote nothing sees what the others wrote, as a list as well.
    let query = countersign_audit::Query {
        limit: 1000,
        ..Default::default()
    };
    assert_eq!(
        store
            .reader()
            .list(&query)
            .expect("a page")
            .activities
            .len(),
        expected
    );
    drop(store);
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.chains, 3);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_killed_writer_leaves_whole_chains_with_postgres() {
    let shared = SharedLog::new();
    drop(shared.open());
    for round in 0..3_u64 {
        let mut child = spawn(shared.home.path(), &shared.cluster.url(), 1_000_000);
        let before = shared.records().0;
        wait_until("it writes", || {
            shared.records().0 > before + 50 * (round + 1)
        });
        child.kill().expect("killed");
        child.wait().expect("reaped");
        let verification = shared.verify();
        assert!(verification.is_intact(), "round {round}: {verification:?}");
        assert_eq!(verification.chains, round + 2);
    }
    let (records, distinct) = shared.records();
    assert_eq!(records, distinct);
}

/// A transaction that began earlier and is committed later has a lower place than what followers could see already.
#[test]
#[ignore = "needs PostgreSQL"]
fn a_follower_waits_for_a_transaction_that_is_still_under_way_with_postgres() {
    let shared = SharedLog::new();
    let store = shared.open();
    let start = store.reader().newest().expect("a place");
    assert!(start > 0);
    // Takes its place now and is committed in two seconds.
    let slow = "BEGIN; SELECT pg_current_xact_id();
        INSERT INTO countersign.chain(chain_id) VALUES ('01ARZ3NDEK0000000000000000');
        INSERT INTO countersign.activity SELECT day, (SELECT max(id) FROM countersign.chain), 0, (pg_current_xact_id()::text::bigint << 16) + 1, gen_random_uuid(), at, kind,
            status, decision, server, tool, client, request_id, parent, hash, body FROM countersign.activity LIMIT 1;
        SELECT pg_sleep(2); COMMIT";
    let mut psql = shared.cluster.command("psql");
    psql.args([
        "-qAtX",
        "-h",
        "127.0.0.1",
        "-U",
        "postgres",
        "-d",
        "log",
        "-c",
        slow,
        "-p",
    ]);
    let mut psql = psql
        .arg(shared.cluster.port().to_string())
        .stdout(Stdio::null())
        .spawn()
        .expect("psql");
    wait_until("it is under way", || {
        shared.count("count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(2)%' AND wait_event = 'PgSleep'") > 0
    });
    fill(&store, 3);
    let after = |place| {
        store
            .reader()
            .records_after(place, &Filter::default(), 100)
            .expect("a tail")
    };
    assert_eq!(
        after(start).records.len(),
        0,
        "they wait for the one below them"
    );
    // A transaction of another database does not hold them back, so only this one does.
    assert!(psql.wait().expect("reaped").success());
    let tail = after(start);
    assert_eq!(tail.records.len() as u64 + tail.unreadable, 4);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn records_of_another_process_are_announced_with_postgres() {
    let shared = SharedLog::new();
    let (store, other) = (shared.open(), shared.open());
    let latest = store.latest();
    fill(&other, 5);
    wait_until("they are announced", || {
        *latest.borrow() > 0
            && *latest.borrow() == shared.count("max(seq) FROM countersign.activity")
    });
}
