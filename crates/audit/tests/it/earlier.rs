//! A data directory that an earlier build wrote is read, verified and continued. `earlier/` holds the store of a gateway
//! that ran `serve --demo` and was called twice; `records.jsonl` is what `activity export` of that build printed. Neither
//! changes: a new form of the store needs a directory of its own beside this one.

use std::path::Path;

use countersign_audit::{Evidence, Filter, Query, Reader, Timestamp};
use serde_json::Value;

use crate::support::{DataDir, call};

/// A copy of the directory, because a store that is opened writes to its files.
fn earlier() -> DataDir {
    let data_dir = DataDir::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/earlier");
    for name in [
        "activity.db",
        "activity-index.db",
        "checkpoints.log",
        "signing_keys.pub",
    ] {
        std::fs::copy(folder.join(name), data_dir.path().join(name)).expect("a copy");
    }
    data_dir
}

/// The records as the earlier build exported them, oldest first.
fn exported() -> Vec<Value> {
    let lines = include_str!("earlier/records.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// The records as this build reads them, oldest first.
fn stored(reader: &Reader) -> Vec<Value> {
    let tail = reader
        .records_after(0, &Filter::default(), 1000)
        .expect("reads");
    let records = tail.records.iter();
    records
        .map(|record| serde_json::to_value(record).expect("JSON"))
        .collect()
}

#[test]
fn records_of_an_earlier_build_are_listed_shown_and_verified() {
    let data_dir = earlier();
    let reader = data_dir.reader();
    let expected = exported();
    assert_eq!(stored(&reader), expected);
    let mut previous = None;
    for record in &expected {
        let id = serde_json::from_value(record["id"].clone()).expect("an id");
        let shown = reader.show(id).expect("reads").expect("the record");
        // One record is shown with the hash of the one before it.
        let mut with_previous = record.clone();
        if let Some(hash) = previous.replace(record["hash"].clone()) {
            with_previous["prev"] = hash;
        }
        assert_eq!(serde_json::to_value(&shown).expect("JSON"), with_previous);
    }
    let blocked = Query::from_pairs([("status", "blocked")], Timestamp::now()).expect("a query");
    let page = reader.list(&blocked).expect("reads");
    let is_blocked = |record: &&Value| record["status"] == "blocked";
    let count = expected.iter().filter(is_blocked).count();
    assert_eq!((page.activities.len(), count), (4, 4));
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.chains), (22, 1));
}

#[test]
fn a_store_of_an_earlier_build_is_continued() {
    let data_dir = earlier();
    let store = data_dir.open();
    let record = call(&store, "files", "read");
    assert_eq!(
        store.commit_blocking((), [record]).evidence(),
        Evidence::Committed
    );
    let now = stored(store.reader());
    let expected = exported();
    assert_eq!(now.get(..expected.len()), Some(expected.as_slice()));
    drop(store);
    let verification = data_dir.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.chains, 2);
}
