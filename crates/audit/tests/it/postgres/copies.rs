//! A log that is copied into PostgreSQL: what breaks off goes on, and nothing is there twice.

use countersign_audit::copy_to_postgres;
use countersign_fixture::postgres::{Proxy, Traffic};

use super::{SIGNING_KEY, SharedLog};
use crate::support::{DataDir, blocked, fill, verify};

/// More than three steps of a copy.
const RECORDS: usize = 3500;

/// An embedded log of two chains.
fn source() -> (DataDir, countersign_audit::Options) {
    let source = DataDir::new();
    let mut options = source.options();
    options.signing_key = Some(SIGNING_KEY.to_owned());
    for _ in 0..2 {
        let store = countersign_audit::Store::open(&options).expect("opens");
        fill(&store, RECORDS / 2);
        let committed = store.commit_blocking((), blocked(&store, "stub", "bad"));
        assert_eq!(committed.evidence(), countersign_audit::Evidence::Committed);
    }
    (source, options)
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_copy_that_breaks_off_goes_on_and_copies_nothing_twice_with_postgres() {
    let shared = SharedLog::new();
    let proxy = Proxy::start(shared.cluster.port());
    let (source, options) = source();
    let url = shared.cluster.url_of("postgres", proxy.port());
    let mut steps = 0;
    let broken = copy_to_postgres(&options, &url, |_| {
        steps += 1;
        if steps == 2 {
            proxy.set(Traffic::Cut);
        }
    });
    broken.expect_err("the database is gone");
    let (before, _) = shared.records();
    assert!(before > 0 && before < RECORDS as u64, "{before}");
    // As a copy leaves it that began on another day than the one that ends it: days are not part of a record's place.
    shared.cluster.sql(
        "SET search_path = countersign, pg_catalog; SELECT make_day(min(day) - 1) FROM activity;
         UPDATE found SET day = day - 1; UPDATE activity SET day = day - 1",
    );
    proxy.set(Traffic::Pass);
    let summary = copy_to_postgres(&options, &url, |_| ()).expect("copied");
    assert_eq!(summary.added, summary.records - before);
    let (records, distinct) = shared.records();
    assert_eq!((records, distinct), (summary.records, summary.records));
    let again = copy_to_postgres(&options, &url, |_| ()).expect("copied");
    assert_eq!((again.added, again.chains), (0, 2));
    let verification = verify(&shared.reader(), source.path());
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(
        (verification.records, verification.chains),
        (summary.records, 2)
    );
}
