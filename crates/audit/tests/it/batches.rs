//! An index of many batches answers as a look at every record does.

use countersign_audit::{Evidence, Filter, Query, Record, StoredRecord, Timestamp};
use proptest::prelude::*;

use crate::query::{filter, page_through, record, shape};
use crate::support::{DataDir, call};

fn everything(data_dir: &DataDir) -> Vec<StoredRecord> {
    let all = data_dir.reader().records_after(0, &Filter::default(), 5000);
    all.expect("all").records
}

/// Commits the records and closes the store, which indexes them as a batch of its own.
fn add_batch(data_dir: &DataDir, records: impl FnOnce(&countersign_audit::Store) -> Vec<Record>) {
    let store = data_dir.open();
    let records = records(&store);
    assert_eq!(
        store.commit_blocking((), records).evidence(),
        Evidence::Committed
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 20, ..ProptestConfig::default() })]
    #[test]
    fn many_batches_answer_as_a_look_at_every_record(
        batches in proptest::collection::vec(proptest::collection::vec(shape(), 0..30), 8..16),
        filters in proptest::collection::vec(filter(), 60),
        limit in 1_usize..40,
    ) {
        let now = Timestamp::now();
        let data_dir = DataDir::new();
        let mut parent = None;
        for shapes in &batches {
            add_batch(&data_dir, |store| {
                let parent = parent.get_or_insert_with(|| call(store, "files", "read"));
                shapes.iter().map(|shape| record(store, shape, Some(parent), now)).collect()
            });
        }
        let parent = parent.expect("made").id().to_string();
        let all = everything(&data_dir);
        let store = data_dir.open();
        let known = all.last().expect("a stop").seq;
        for pairs in filters {
            let pairs = pairs.into_iter().map(|(key, value)| (key, if value == "PARENT" { parent.clone() } else { value }));
            let mut query = Query::from_pairs(pairs, now).expect("allowed");
            query.limit = limit;
            let expected: Vec<u64> = all.iter().rev().filter(|r| query.filter.matches(&r.record)).map(|r| r.seq).collect();
            let found = page_through(&store, &query).into_iter().map(|r| r.seq).filter(|seq| *seq <= known);
            prop_assert_eq!(&found.collect::<Vec<_>>(), &expected, "{:?}", query.filter);
            query.total = true;
            let total = data_dir.reader().list(&query).expect("list").total;
            let newer = data_dir.reader().records_after(known, &query.filter, 10).expect("after").records.len();
            prop_assert_eq!(total, Some((expected.len() + newer) as u64), "{:?}", query.filter);
        }
        for stored in &all {
            let shown = data_dir.reader().show(stored.record.id()).expect("show").expect("there");
            prop_assert_eq!((shown.seq, &shown.record), (stored.seq, &stored.record));
        }
        drop(store);
        prop_assert_eq!(data_dir.first_break(), None);
    }
}

#[test]
fn a_damaged_index_is_an_error_and_never_a_panic() {
    let data_dir = DataDir::new();
    for _ in 0..3 {
        add_batch(&data_dir, |store| vec![call(store, "files", "read")]);
    }
    let id = everything(&data_dir)[1].record.id();
    for sql in [
        "UPDATE posting SET seqs = x''",
        "UPDATE posting SET seqs = x'07'",
        "UPDATE posting SET seqs = x'00ffffffffffffffffffff01'",
        "UPDATE posting SET seqs = x'01ffffffffffffffff'",
        "UPDATE posting SET seqs = zeroblob(100000)",
        "UPDATE posting SET last = last + 1000000",
        "UPDATE key SET keys = x'80'",
        "UPDATE key SET keys = zeroblob(100000)",
        "UPDATE key SET hash = 9999999999",
        "UPDATE key SET seq = 9000000000000000000",
        "UPDATE batch SET seqs = x'01ffffffffffffffffffff'",
        "UPDATE batch SET times = x'80'",
        "UPDATE batch SET last = last + 1000000",
    ] {
        let path = data_dir.path().join("activity-index.db");
        let index = rusqlite::Connection::open(&path).expect("index");
        index.execute_batch(sql).expect(sql);
        drop(index);
        let reader = data_dir.reader();
        for pairs in [
            &[][..],
            &[("server", "files")],
            &[("server", "files"), ("status", "success"), ("since", "1h")],
            &[("until", "1m"), ("request_id", "1")],
        ] {
            let mut query =
                Query::from_pairs(pairs.iter().copied(), Timestamp::now()).expect("a query");
            query.total = true;
            // An error, or fewer records; what is given is what was asked for.
            let found = reader
                .list(&query)
                .map_or_else(|_| Vec::new(), |page| page.activities);
            assert!(
                found
                    .iter()
                    .all(|stored| query.filter.matches(&stored.record)),
                "{sql}"
            );
        }
        reader.show(id).ok();
        assert_ne!(data_dir.first_break(), None, "{sql}");
        std::fs::remove_file(&path).expect("removed");
        std::fs::remove_file(data_dir.path().join("activity-index.db-wal")).ok();
        assert_eq!(data_dir.first_break(), None, "built anew");
    }
}
