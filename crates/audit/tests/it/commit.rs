//! Committing: evidence, durability levels, failure, the catalogue.

use std::time::{Duration, Instant};

use countersign_audit::{
    Durability, Evidence, Kind, Mode, OnStoreError, Outcome, Record, Store, ToolDeclaration,
};

use crate::support::{DataDir, blocked, call, fill};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_comes_back_when_its_records_are_committed() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    let delivery = tokio::spawn(store.deliver());
    let recorded = store
        .commit("reply", blocked(&store, "stub", "bad_output"))
        .await;
    assert_eq!(recorded.evidence(), Evidence::Committed);
    assert_eq!(recorded.into_value(), "reply");
    let count: i64 = data_dir
        .sqlite()
        .query_row("SELECT count(*) FROM activity", [], |row| row.get(0))
        .expect("count");
    assert_eq!(count, 3, "system_start, call, decision");
    let empty = store.commit(7, []).await;
    assert_eq!((empty.evidence(), *empty.value()), (Evidence::Committed, 7));
    drop(store);
    delivery.await.expect("delivery ends with the store");
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(
        (
            verification.records,
            verification.chains,
            verification.after_last_checkpoint
        ),
        (4, 1, 0)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_share_transactions() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    tokio::spawn(store.deliver());
    let callers: Vec<_> = (0..64)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..50 {
                    let record = call(&store, "files", "read");
                    assert_eq!(
                        store.commit((), [record]).await.evidence(),
                        Evidence::Committed
                    );
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("caller");
    }
    let stats = store.stats();
    assert_eq!((stats.committed, stats.failed, stats.dropped), (3200, 0, 0));
    assert!(stats.transactions < stats.committed, "{stats:?}");
    assert!(*store.latest().borrow() > 3200);
    store.close().await;
    assert_eq!(
        store
            .commit((), [call(&store, "files", "late")])
            .await
            .evidence(),
        Evidence::StoreDown
    );
    assert!(data_dir.verify().is_intact());
}

#[test]
fn each_durability_level_writes() {
    for (level, evidence) in [
        (Durability::Commit, Evidence::Committed),
        (Durability::Sync, Evidence::Committed),
        (Durability::Async, Evidence::Queued),
    ] {
        let data_dir = DataDir::new();
        let mut options = data_dir.options();
        options.durability = level;
        let store = Store::open(&options).expect("opens");
        for _ in 0..10 {
            assert_eq!(
                store
                    .commit_blocking((), [call(&store, "a", "b")])
                    .evidence(),
                evidence
            );
        }
        drop(store);
        let verification = data_dir.verify();
        assert!(verification.is_intact());
        assert_eq!(verification.records, 12, "{level:?}");
    }
    assert!(
        "always"
            .parse::<Durability>()
            .expect_err("unknown")
            .to_string()
            .ends_with("allowed: commit, sync, async")
    );
}

#[test]
fn a_full_asynchronous_queue_drops_counts_and_confesses() {
    let data_dir = DataDir::new();
    let mut options = data_dir.options();
    options.durability = Durability::Async;
    options.queue = 4;
    options.busy_timeout = Duration::from_mins(2);
    let store = Store::open(&options).expect("opens");
    let raw = data_dir.sqlite();
    // While another process holds the write lock the writer waits and its queue fills.
    raw.execute_batch("BEGIN IMMEDIATE").expect("lock");
    for _ in 0..1000 {
        assert_eq!(
            store
                .commit_blocking((), [call(&store, "a", "b")])
                .evidence(),
            Evidence::Queued
        );
    }
    let dropped = store.stats().dropped;
    assert!(dropped > 0 && dropped < 1000, "{dropped}");
    raw.execute_batch("ROLLBACK").expect("unlock");
    drop(store);
    let verification = data_dir.verify();
    assert!(verification.is_intact());
    assert_eq!(verification.lost, dropped);
    assert_eq!(verification.records, 1000 - dropped + 2);
}

#[test]
fn a_locked_store_is_down_and_the_chain_goes_on_afterwards() {
    let data_dir = DataDir::new();
    let mut options = data_dir.options();
    options.busy_timeout = Duration::from_millis(20);
    let store = Store::open(&options).expect("opens");
    fill(&store, 5);
    let raw = data_dir.sqlite();
    raw.execute_batch("BEGIN IMMEDIATE").expect("lock");
    let recorded = store.commit_blocking("reply", [call(&store, "a", "b")]);
    assert_eq!(recorded.evidence(), Evidence::StoreDown);
    assert_eq!(
        recorded
            .or_refuse(OnStoreError::Auto, Mode::Strict, |_| "refused")
            .into_value(),
        "refused"
    );
    assert!(!store.stats().healthy);
    assert_eq!(store.stats().failed, 1);
    raw.execute_batch("ROLLBACK").expect("unlock");
    fill(&store, 5);
    assert!(store.stats().healthy);
    drop(store);
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.lost), (12, 1));
}

#[test]
fn a_store_that_was_down_is_found_to_work_before_anybody_needs_it() {
    let data_dir = DataDir::new();
    let mut options = data_dir.options();
    options.busy_timeout = Duration::from_millis(20);
    let store = Store::open(&options).expect("opens");
    let raw = data_dir.sqlite();
    raw.execute_batch("BEGIN IMMEDIATE").expect("lock");
    let lost = store.commit_blocking((), [call(&store, "a", "b")]);
    assert_eq!(lost.evidence(), Evidence::StoreDown);
    let checkpoints = store.stats().checkpoints;
    raw.execute_batch("ROLLBACK").expect("unlock");
    let until = Instant::now() + Duration::from_mins(1);
    while !store.stats().healthy {
        assert!(Instant::now() < until, "never tried again");
        std::thread::yield_now();
    }
    assert_eq!(store.stats().checkpoints, checkpoints + 1);
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.lost, 1, "confessed at once");
}

#[test]
fn records_nobody_waits_for_share_transactions() {
    let data_dir = DataDir::new();
    let mut options = data_dir.options();
    options.durability = Durability::Async;
    let store = Store::open(&options).expect("opens");
    let start = Instant::now();
    for _ in 0..1000 {
        let queued = store.commit_blocking((), [call(&store, "a", "b")]);
        assert_eq!(queued.evidence(), Evidence::Queued);
    }
    let until = start + Duration::from_mins(1);
    while store.stats().committed < 1000 {
        assert!(Instant::now() < until, "never written");
        std::thread::yield_now();
    }
    // A group that is not full gathers for five milliseconds, so there cannot have been more.
    let most = start.elapsed().as_millis() / 5 + 1000 / 512 + 2;
    let transactions = u128::from(store.stats().transactions);
    assert!(transactions <= most, "{transactions} of {most}");
}

#[test]
fn captured_tools_keep_their_generations() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    let reader = store.reader();
    let put_tool = |tool: &str, digest: &str, raw: &str| {
        let raw = raw.as_bytes();
        let declared = ToolDeclaration { tool, digest, raw };
        reader.put_tools("crm", &[declared]).expect("put")[0]
    };
    let put = |digest: &str, raw: &str| put_tool("search", digest, raw);
    assert_eq!(
        (put("d1", "one").number, put("d1", "one").is_new),
        (1, false)
    );
    let second = put("d2", "two");
    assert_eq!((second.number, second.is_new), (2, true));
    let newest = reader
        .tool("crm", "search", None)
        .expect("read")
        .expect("there");
    assert_eq!(
        (
            newest.raw.as_slice(),
            newest.generation,
            newest.digest.as_str()
        ),
        (&b"two"[..], 2, "d2")
    );
    let first = reader
        .tool("crm", "search", Some(1))
        .expect("read")
        .expect("there");
    assert_eq!(first.raw, b"one");
    for i in 3..=40 {
        assert_eq!(put(&format!("d{i}"), "x").number, i);
    }
    assert!(
        reader
            .tool("crm", "search", Some(24))
            .expect("read")
            .is_none(),
        "old generations go"
    );
    assert!(
        reader
            .tool("crm", "search", Some(25))
            .expect("read")
            .is_some()
    );
    put_tool("add", "a", "{}");
    let names: Vec<String> = reader
        .tools("crm")
        .expect("list")
        .into_iter()
        .map(|t| format!("{}@{}", t.tool, t.generation))
        .collect();
    assert_eq!(names, ["add@1", "search@40"]);
    assert_eq!(reader.remove_tools("crm").expect("removed"), 17);
    assert!(reader.tools("crm").expect("list").is_empty());
}

#[test]
fn a_store_over_its_limit_takes_no_more_and_recovers_when_there_is_room() {
    let data_dir = DataDir::new();
    fill(&data_dir.open(), 2000);
    let mut options = data_dir.options();
    options.retention.max_bytes = Some(64 << 10);
    options.retention.floor = Duration::from_hours(24);
    let store = Store::open(&options).expect("opens");
    let commit = |store: &Store| {
        let record = call(store, "files", "tool");
        store.commit_blocking((), [record]).evidence()
    };
    while commit(&store) != Evidence::StoreDown {}
    assert!(!store.stats().healthy);
    assert!(store.stats().removed == 0 && store.stats().failed > 0);
    drop(store);
    assert!(data_dir.verify().is_intact());
    // With a floor of nothing the old records go.
    options.retention.floor = Duration::ZERO;
    let store = Store::open(&options).expect("opens");
    while store.stats().removed == 0 {
        std::thread::yield_now();
    }
    assert_eq!(commit(&store), Evidence::Committed);
}

#[test]
fn an_unbounded_record_is_cut_not_refused() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    let mut record = Record::new(store.next_id(), Kind::ToolCall, Outcome::Error);
    record.tool = Some("t".repeat(1 << 20));
    record.reason = Some("r".repeat(1 << 20));
    assert_eq!(
        store.commit_blocking((), [record]).evidence(),
        Evidence::Committed
    );
    let longest: i64 = data_dir
        .sqlite()
        .query_row("SELECT max(length(body)) FROM activity", [], |row| {
            row.get(0)
        })
        .expect("length");
    assert!(longest < 4096, "{longest}");
}
