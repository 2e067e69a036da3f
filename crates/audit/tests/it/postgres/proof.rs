//! Receipts and published log heads of a shared store.

use countersign_audit::{BreakKind, Receipt, Store, TrustedKeys};

use super::{SharedLog, wait_until};
use crate::proof::{all_records, options_with_batches};
use crate::support::{DataDir, blocked, fill};

fn write(shared: &SharedLog, count: usize) {
    let store = Store::open(&options_with_batches(shared.options(), 7)).expect("opens");
    fill(&store, count);
    store
        .commit_blocking((), blocked(&store, "stub", "bad"))
        .into_value();
    // One gateway maintains the tree; with one gateway alone it is that one, once it was elected.
    wait_until("a head covers the beginning", || {
        shared.count("count(*) FROM countersign.tree_head") > 0
    });
}

fn trusted(shared: &SharedLog) -> TrustedKeys {
    TrustedKeys::of_data_dir(shared.home.path()).expect("public keys")
}

fn newest_head(shared: &SharedLog) -> String {
    let sql = "SELECT note FROM countersign.tree_head ORDER BY size DESC LIMIT 1";
    format!("{}\n", shared.cluster.sql(sql).trim_end())
}

/// Verifies as an auditor does who has the key and what was published, but not the gateways' data directories.
fn verify_elsewhere(shared: &SharedLog, anchor: Option<&str>) -> Option<BreakKind> {
    let elsewhere = DataDir::new();
    let mut options = shared.options();
    elsewhere.path().clone_into(&mut options.data_dir);
    let reader = countersign_audit::Reader::open(&options).expect("reader opens");
    let path = elsewhere.path().join("heads");
    let anchors: Vec<_> = anchor
        .map(|text| {
            std::fs::write(&path, text).expect("written");
            path
        })
        .into_iter()
        .collect();
    let verified = reader.verify_with_anchors(&trusted(shared), &anchors);
    let verified = verified.expect("verify runs");
    verified.first_break.map(|broken| broken.kind)
}

#[test]
#[ignore = "needs PostgreSQL"]
fn every_record_of_several_gateways_has_a_receipt_with_postgres() {
    let shared = SharedLog::new();
    let options = options_with_batches(shared.options(), 5);
    let stores: Vec<Store> = (0..3)
        .map(|_| Store::open(&options).expect("opens"))
        .collect();
    std::thread::scope(|scope| {
        for store in &stores {
            scope.spawn(move || (0..20).for_each(|_| fill(store, 1)));
        }
    });
    drop(stores);
    // The gateway that maintained the tree may have stopped first; the next one takes in what was left.
    write(&shared, 1);
    wait_until("nothing is queued", || {
        if shared.count("count(*) FROM countersign.tree_queue") > 0 {
            write(&shared, 1);
        }
        shared.count("count(*) FROM countersign.tree_queue") == 0
    });
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(
        verification.log_size,
        shared.count("count(*) FROM countersign.leaf")
    );
    let reader = shared.reader();
    for record in all_records(&reader) {
        let text = reader
            .receipt(record.record.id())
            .expect("a receipt")
            .to_string();
        let receipt = Receipt::parse(&text).expect("it reads back");
        let verified = receipt.verify(&trusted(&shared), &[]).expect("it verifies");
        assert_eq!((verified.record, verified.n), (record.record, record.n));
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_database_rolled_back_to_a_backup_is_found_with_the_published_head_and_not_without_with_postgres()
 {
    let shared = SharedLog::new();
    write(&shared, 20);
    let run = |program: &str, arguments: &[&str]| {
        let output = shared.cluster.command(program).args(arguments).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{program}: {output:?}");
    };
    let url = shared.cluster.url();
    run("pg_dump", &["-Fc", "-f", "backup", &url]);
    let before = newest_head(&shared);
    write(&shared, 20);
    let published = newest_head(&shared);
    for anchor in [None, Some(before.as_str()), Some(published.as_str())] {
        assert_eq!(verify_elsewhere(&shared, anchor), None);
    }
    shared.cluster.sql("DROP SCHEMA countersign CASCADE");
    run("pg_restore", &["-d", &url, "backup"]);
    assert_eq!(verify_elsewhere(&shared, None), None);
    assert_eq!(verify_elsewhere(&shared, Some(&before)), None);
    assert_eq!(
        verify_elsewhere(&shared, Some(&published)),
        Some(BreakKind::RolledBack)
    );
    // The gateways go on in the older copy.
    write(&shared, 40);
    assert_eq!(verify_elsewhere(&shared, None), None);
    assert_eq!(
        verify_elsewhere(&shared, Some(&published)),
        Some(BreakKind::DiffersFromAnchor)
    );
}

#[test]
#[ignore = "needs PostgreSQL"]
fn records_copied_from_an_embedded_store_have_receipts_with_postgres() {
    let shared = SharedLog::new();
    let source = DataDir::new();
    let mut options = options_with_batches(source.options(), 6);
    options.signing_key = Some(super::SIGNING_KEY.to_owned());
    let store = Store::open(&options).expect("opens");
    fill(&store, 20);
    drop(store);
    let copied = all_records(&source.reader());
    // The second copy finds everything there.
    for _ in 0..2 {
        countersign_audit::copy_to_postgres(&options, &shared.cluster.url(), |_| ())
            .expect("copied");
    }
    write(&shared, 1);
    let reader = shared.reader();
    for record in &copied {
        let receipt = reader.receipt(record.record.id()).expect("a receipt");
        receipt.verify(&trusted(&shared), &[]).expect("it verifies");
    }
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
}
