//! The database goes away, in every way there is: no reply without its records, no record twice, and it goes on by itself.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use countersign_audit::{Durability, Evidence, Options, Store};
use countersign_fixture::postgres::{Proxy, Traffic};

use super::{SharedLog, wait_until};
use crate::support::{call, fill};

/// So many records at least are acknowledged before a disturbed run ends, however slow the machine is.
const ENOUGH: usize = 100;

/// Writes from four threads while `disturb` runs, and for a moment after it. Gives the ids that were acknowledged.
fn write_during(store: &Store, disturb: impl FnOnce()) -> HashSet<String> {
    let (acknowledged, is_over) = (Mutex::new(HashSet::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let record = call(store, "files", "read");
                    let id = record.id().to_string();
                    match store.commit_blocking((), [record]).evidence() {
                        Evidence::Committed => {
                            acknowledged.lock().expect("lock").insert(id);
                        }
                        _ => thread::sleep(Duration::from_millis(5)),
                    }
                }
            });
        }
        disturb();
        wait_until("the store works again", || store.stats().healthy);
        let before = acknowledged.lock().expect("lock").len();
        wait_until("records are committed again", || {
            acknowledged.lock().expect("lock").len() > ENOUGH.max(before + 20)
        });
        is_over.store(true, Ordering::Relaxed);
    });
    acknowledged.into_inner().expect("lock")
}

/// Every acknowledged record is there, none is there twice, and the chains hold.
fn check(shared: &SharedLog, acknowledged: &HashSet<String>, chains: u64) {
    let (records, distinct) = shared.records();
    assert_eq!(records, distinct, "a record was stored twice");
    let sql = "SELECT convert_from(body, 'UTF8')::jsonb->>'id' FROM countersign.activity";
    let listed = shared.cluster.sql(sql);
    let stored: HashSet<&str> = listed.lines().collect();
    assert_eq!(stored.len() as u64, records);
    let missing = acknowledged
        .iter()
        .filter(|id| !stored.contains(id.as_str()));
    assert_eq!(missing.count(), 0, "acknowledged records are missing");
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(
        (verification.records, verification.chains),
        (records, chains)
    );
}

/// The primary dies under load and its standby takes over: with `sync` it has everything that was acknowledged.
#[test]
#[ignore = "needs PostgreSQL"]
fn a_standby_that_takes_over_has_what_was_acknowledged_with_postgres() {
    let mut shared = SharedLog::new();
    let standby = shared.cluster.start_standby();
    // Only now: without a standby every commit would wait for one.
    let set = "ALTER SYSTEM SET synchronous_standby_names = '*'";
    shared.cluster.sql(set);
    shared.cluster.sql("SELECT pg_reload_conf()");
    wait_until("the standby is synchronous", || {
        let sql = "count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        shared.count(sql) == 1
    });
    let mut options = shared.options();
    let hosts = format!(
        "127.0.0.1:{},127.0.0.1:{}",
        shared.cluster.port(),
        standby.port()
    );
    let url =
        format!("postgres://postgres@{hosts}/log?sslmode=disable&target_session_attrs=read-write");
    options.postgres_url = Some(url);
    options.durability = Durability::Sync;
    options.checkpoint_records = 50;
    let store = Store::open(&options).expect("opens");
    let cluster = &mut shared.cluster;
    let acknowledged = write_during(&store, || {
        thread::sleep(Duration::from_millis(300));
        cluster.kill();
        wait_until("the store is known to be down", || !store.stats().healthy);
        standby.sql("SELECT pg_promote()");
    });
    assert!(acknowledged.len() > ENOUGH);
    drop(store);
    shared.cluster = standby;
    // The standby may lack records that were never acknowledged; then a second chain goes on from what it has.
    let chains = shared.count("count(*) FROM countersign.chain");
    assert!((1..=2).contains(&chains), "{chains}");
    check(&shared, &acknowledged, chains);
}

fn through(shared: &SharedLog, proxy: &Proxy) -> Options {
    let mut options = shared.options();
    options.postgres_url = Some(shared.cluster.url_of("postgres", proxy.port()));
    options.busy_timeout = Duration::from_millis(500);
    options.checkpoint_records = 50;
    options
}

/// More rounds by command: `COUNTERSIGN_TEST_KILLS=20 cargo test -p countersign-audit -- --ignored a_server_that_is_killed`
#[test]
#[ignore = "needs PostgreSQL"]
fn a_server_that_is_killed_loses_nothing_acknowledged_with_postgres() {
    let rounds = std::env::var("COUNTERSIGN_TEST_KILLS");
    let rounds: u32 = rounds.map_or(3, |rounds| rounds.parse().expect("a number"));
    let mut shared = SharedLog::new();
    let mut options = shared.options();
    options.checkpoint_records = 50;
    let store = Store::open(&options).expect("opens");
    let mut acknowledged = HashSet::new();
    for _ in 0..rounds {
        let cluster = &mut shared.cluster;
        acknowledged.extend(write_during(&store, || {
            thread::sleep(Duration::from_millis(300));
            cluster.kill();
            wait_until("the store is known to be down", || !store.stats().healthy);
            cluster.resume();
        }));
    }
    let lost = store.stats().failed;
    drop(store);
    check(&shared, &acknowledged, 1);
    assert_eq!(shared.verify().lost, lost, "losses are confessed");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn answers_lost_on_their_way_make_no_duplicates_with_postgres() {
    let shared = SharedLog::new();
    let proxy = Proxy::start(shared.cluster.port());
    let store = Store::open(&through(&shared, &proxy)).expect("opens");
    let acknowledged = write_during(&store, || {
        for round in 0..40 {
            thread::sleep(Duration::from_millis(30 + round % 7));
            proxy.set(Traffic::SwallowAnswers);
            thread::sleep(Duration::from_millis(10));
            proxy.set(Traffic::Pass);
            if round % 5 == 0 {
                proxy.reset();
            }
        }
    });
    drop(store);
    check(&shared, &acknowledged, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL"]
async fn a_database_that_does_not_answer_costs_a_caller_no_more_than_its_patience_with_postgres() {
    let shared = SharedLog::new();
    let proxy = Proxy::start(shared.cluster.port());
    let mut options = through(&shared, &proxy);
    options.store_timeout = Duration::from_millis(300);
    options.queue = 8;
    let store = tokio::task::block_in_place(|| Store::open(&options)).expect("opens");
    proxy.set(Traffic::BlackHole);
    let first = store.commit("reply", [call(&store, "a", "late")]).await;
    assert_eq!(first.evidence(), Evidence::StoreDown);
    assert_eq!(store.stats().failed, 0, "it waits to be written");
    let known_down = Instant::now() + Duration::from_mins(1);
    while store.stats().healthy && Instant::now() < known_down {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!store.stats().healthy);
    // The queue holds eight; what does not fit is lost and counted.
    for _ in 0..20 {
        let later = store.commit((), [call(&store, "a", "b")]).await;
        assert_eq!(later.evidence(), Evidence::StoreDown);
    }
    let lost = store.stats().failed;
    assert!((12..20).contains(&lost), "{lost}");
    proxy.set(Traffic::Pass);
    let healthy = Instant::now() + Duration::from_mins(1);
    while !store.stats().healthy && Instant::now() < healthy {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let after = store.commit((), [call(&store, "a", "after")]).await;
    assert_eq!(after.evidence(), Evidence::Committed);
    store.close().await;
    let verification = tokio::task::block_in_place(|| shared.verify());
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.lost, lost);
    // The start, the stop, what waited, what fitted, and the last one.
    assert_eq!(verification.records, 2 + 1 + (20 - lost) + 1);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_store_closes_in_good_time_without_its_database_with_postgres() {
    let mut shared = SharedLog::new();
    let mut options = shared.options();
    options.busy_timeout = Duration::from_secs(1);
    let store = Store::open(&options).expect("opens");
    fill(&store, 10);
    shared.cluster.kill();
    assert_eq!(
        store
            .commit_blocking((), [call(&store, "a", "b")])
            .evidence(),
        Evidence::StoreDown
    );
    drop(store);
    shared.cluster.resume();
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.records, 11);
    Store::open(&options).expect("another process starts");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn every_durability_level_writes_with_postgres() {
    for (level, evidence) in [
        (Durability::Commit, Evidence::Committed),
        (Durability::Sync, Evidence::Committed),
        (Durability::Async, Evidence::Queued),
    ] {
        let shared = SharedLog::new();
        let mut options = shared.options();
        options.durability = level;
        let store = Store::open(&options).expect("opens");
        for _ in 0..10 {
            let committed = store.commit_blocking((), [call(&store, "a", "b")]);
            assert_eq!(committed.evidence(), evidence);
        }
        drop(store);
        let verification = shared.verify();
        assert!(verification.is_intact(), "{verification:?}");
        assert_eq!(verification.records, 12, "{level:?}");
    }
}

/// A database that lost what it had acknowledged: the chain must not go on as if nothing had happened.
#[test]
#[ignore = "needs PostgreSQL"]
fn a_restored_database_gets_a_new_chain_with_postgres() {
    let shared = SharedLog::new();
    let proxy = Proxy::start(shared.cluster.port());
    let mut options = through(&shared, &proxy);
    // The database answers here, however busy the machine is.
    options.busy_timeout = Duration::from_secs(3);
    let store = Store::open(&options).expect("opens");
    fill(&store, 40);
    // As if a backup from ten records ago had been restored.
    proxy.set(Traffic::Cut);
    shared
        .cluster
        .sql("DELETE FROM countersign.activity WHERE n > 30");
    let down = store.commit_blocking((), [call(&store, "a", "b")]);
    drop(down);
    proxy.set(Traffic::Pass);
    wait_until("the store works again", || store.stats().healthy);
    fill(&store, 5);
    drop(store);
    assert_eq!(shared.count("count(*) FROM countersign.chain"), 2);
    let (records, distinct) = shared.records();
    assert_eq!(records, distinct);
    // The second chain names the head that is there, and is whole.
    let second = shared.count("count(*) FROM countersign.activity WHERE chain = 2");
    assert!(second >= 7, "{second}");
}
