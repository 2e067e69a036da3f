//! While many calls are under way, records are committed to the journal and come into the database later.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use countersign_audit::{
    Durability, Evidence, PendingCall, Query, Reader, Record, Store, Timestamp, Ulid,
};

use crate::support::{DataDir, blocked, call, fill};

/// A store with as many calls under way that its records are committed to the journal.
fn busy_store(data_dir: &DataDir) -> (Store, Vec<PendingCall>) {
    let mut options = data_dir.options();
    options.busy_timeout = Duration::from_millis(20);
    let store = Store::open(&options).expect("opens");
    let calls = (0..8).map(|_| store.begin_call()).collect();
    (store, calls)
}

fn commit(store: &Store, records: impl IntoIterator<Item = Record>) -> Evidence {
    store.commit_blocking((), records).evidence()
}

fn journals(data_dir: &DataDir) -> usize {
    let files = std::fs::read_dir(data_dir.path()).expect("a folder");
    let names = files.map(|file| file.expect("a file").file_name());
    names
        .filter(|name| name.to_string_lossy().contains("-journal-"))
        .count()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn what_is_in_the_journal_can_be_read_at_once() {
    let data_dir = DataDir::new();
    let (store, calls) = busy_store(&data_dir);
    let query = Query::from_pairs([("limit", "1")], Timestamp::now()).expect("a query");
    for _ in 0..50 {
        let record = call(&store, "files", "read");
        let id = record.id();
        assert_eq!(commit(&store, [record]), Evidence::Committed);
        assert!(store.reader().show(id).expect("read").is_some());
        let page = store.reader().list(&query).expect("read");
        assert_eq!(page.activities[0].record.id(), id);
    }
    assert_eq!(journals(&data_dir), 2);
    drop(calls);
    // A lone caller does not wait for the pause of the writer to end.
    fill(&store, 1);
    drop(store);
    assert_eq!(journals(&data_dir), 0);
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(
        (verification.records, verification.after_last_checkpoint),
        (53, 0)
    );
}

#[test]
fn many_records_of_many_threads_come_into_the_database_in_one_chain() {
    let data_dir = DataDir::new();
    let (store, _calls) = busy_store(&data_dir);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2000 {
                    let records = blocked(&store, "stub", "bad");
                    assert_eq!(commit(&store, records), Evidence::Committed);
                }
            });
        }
    });
    drop(store);
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.lost), (16_002, 0));
}

#[test]
fn records_in_the_journal_wait_for_a_database_that_takes_none() {
    let data_dir = DataDir::new();
    let (store, _calls) = busy_store(&data_dir);
    let raw = data_dir.sqlite();
    raw.execute_batch("BEGIN IMMEDIATE").expect("lock");
    for _ in 0..10 {
        let record = call(&store, "a", "b");
        assert_eq!(commit(&store, [record]), Evidence::Committed);
    }
    wait_until("never tried", || !store.stats().healthy);
    // Its caller learns that a record cannot be kept for certain.
    let refused = commit(&store, [call(&store, "a", "c")]);
    assert_eq!(refused, Evidence::StoreDown);
    raw.execute_batch("ROLLBACK").expect("unlock");
    wait_until("never tried again", || store.stats().healthy);
    assert_eq!((store.stats().committed, store.stats().failed), (10, 1));
    drop(store);
    assert_eq!(journals(&data_dir), 0);
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.lost), (12, 1));
}

/// Ten records that a process has committed to its journal and not to the database, and their ids.
fn leave_behind(data_dir: &DataDir) -> [Ulid; 10] {
    let (store, _calls) = busy_store(data_dir);
    let raw = data_dir.sqlite();
    raw.execute_batch("BEGIN IMMEDIATE").expect("lock");
    let records = [0; 10].map(|_| call(&store, "a", "b"));
    let ids = records.each_ref().map(Record::id);
    for record in records {
        assert_eq!(commit(&store, [record]), Evidence::Committed);
    }
    drop(store);
    assert_eq!(journals(data_dir), 2, "the database takes nothing");
    raw.execute_batch("ROLLBACK").expect("unlock");
    ids
}

fn has_all(reader: &Reader, ids: &[Ulid]) -> bool {
    ids.iter()
        .all(|id| reader.show(*id).expect("read").is_some())
}

#[test]
fn a_journal_that_is_left_behind_is_taken_in_by_the_next_process() {
    for opens_to_write in [true, false] {
        let data_dir = DataDir::new();
        let ids = leave_behind(&data_dir);
        if opens_to_write {
            drop(data_dir.open());
        }
        assert!(has_all(&data_dir.reader(), &ids));
        assert_eq!(journals(&data_dir), 0);
        let verification = data_dir.verify();
        assert!(verification.is_intact(), "{verification:?}");
        let records = if opens_to_write { 13 } else { 11 };
        assert_eq!((verification.records, verification.lost), (records, 0));
    }
}

#[test]
fn a_journal_is_taken_in_only_with_the_key_of_its_process() {
    let data_dir = DataDir::new();
    let ids = leave_behind(&data_dir);
    let mut other = data_dir.options();
    other.signing_key = Some("07".repeat(32));
    drop(Store::open(&other).expect("opens"));
    let reader = Reader::open(&other).expect("opens");
    assert!(!has_all(&reader, &ids[..1]));
    assert_eq!(journals(&data_dir), 2, "kept");
    assert!(has_all(&data_dir.reader(), &ids));
    assert_eq!(journals(&data_dir), 0);
    assert!(data_dir.verify().is_intact());
}

#[test]
fn a_journal_of_another_hand_is_not_signed_for() {
    let (data_dir, forger) = (DataDir::new(), DataDir::new());
    leave_behind(&data_dir);
    // The forger has a store like it, but not its key.
    leave_behind(&forger);
    let files = |dir: &DataDir| {
        let files = std::fs::read_dir(dir.path()).expect("a folder");
        let paths = files.map(|file| file.expect("a file").path());
        let is_journal = |path: &PathBuf| path.to_string_lossy().contains("-journal-");
        let mut journals: Vec<PathBuf> = paths.filter(is_journal).collect();
        journals.sort();
        journals
    };
    for (forged, own) in files(&forger).iter().zip(files(&data_dir)) {
        std::fs::copy(forged, own).expect("copied");
    }
    drop(data_dir.open());
    assert_eq!(journals(&data_dir), 0);
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    // A beginning of each process, and one end: the first process was killed, as far as can be told.
    assert_eq!(verification.records, 3);
}

#[test]
fn only_the_durability_commit_has_a_journal() {
    for durability in [Durability::Sync, Durability::Async] {
        let data_dir = DataDir::new();
        let mut options = data_dir.options();
        options.durability = durability;
        let store = Store::open(&options).expect("opens");
        assert_eq!(journals(&data_dir), 0, "{durability:?}");
        drop(store);
    }
}
