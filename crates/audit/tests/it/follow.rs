//! Following: what `/events` and `watch` are made of.

use countersign_audit::{Evidence, Filter, Status, Store};

use crate::support::{DataDir, blocked, call, fill};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_sees_every_record_once_and_resumes_where_it_was() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    let mut latest = store.latest();
    let writer = store.clone();
    let writing = tokio::spawn(async move {
        for _ in 0..300 {
            let record = call(&writer, "files", "read");
            assert_eq!(
                writer.commit((), [record]).await.evidence(),
                Evidence::Committed
            );
        }
    });
    let (mut place, mut seen) = (0, Vec::new());
    while seen.len() < 301 {
        let tail = store
            .reader()
            .records_after(place, &Filter::default(), 7)
            .expect("after");
        seen.extend(tail.records.iter().map(|r| r.seq));
        // As if the connection had been lost: go on from the last record seen.
        place = seen.last().copied().unwrap_or_default();
        if tail.records.is_empty() {
            latest.changed().await.expect("the store lives");
        }
    }
    writing.await.expect("writer");
    assert_eq!(seen, (1..=301).collect::<Vec<u64>>());
}

#[test]
fn a_filtered_follower_moves_on_past_what_does_not_match() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    fill(&store, 12_000);
    assert_eq!(
        store
            .commit_blocking((), blocked(&store, "stub", "bad"))
            .evidence(),
        Evidence::Committed
    );
    let filter = Filter {
        statuses: vec![Status::Blocked],
        ..Filter::default()
    };
    let (mut place, mut looks, mut found) = (0, 0, Vec::new());
    loop {
        let tail = store
            .reader()
            .records_after(place, &filter, 10)
            .expect("after");
        assert!(tail.next >= place);
        (place, looks) = (tail.next, looks + 1);
        found.extend(tail.records);
        if !tail.more {
            break;
        }
    }
    assert_eq!((found.len(), place), (1, 12_003));
    assert!(looks > 1, "one look is bounded");
}

#[test]
fn records_of_another_process_are_announced() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    let other = Store::open(&data_dir.options()).expect("a second writer");
    fill(&other, 5);
    let latest = store.latest();
    while *latest.borrow() < 7 {
        std::thread::yield_now();
    }
    assert_eq!(
        store
            .reader()
            .records_after(0, &Filter::default(), 100)
            .expect("after")
            .records
            .len(),
        7
    );
}
