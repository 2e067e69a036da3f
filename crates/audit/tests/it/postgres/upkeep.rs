//! Days: retention, restored databases, and time-outs of the clock.

use std::time::Duration;

use countersign_audit::{Query, Retention, Store};

use super::{SharedLog, wait_until};
use crate::support::fill;

const DAY: Duration = Duration::from_hours(24);

/// Moves the records of a chain up to `n` to an earlier day, as if they had been written then.
fn age(shared: &SharedLog, days: i32, n: u32) {
    let day = format!("(extract(epoch FROM now()) / 86400)::int - {days}");
    shared.cluster.sql(&format!(
        "SET search_path = countersign, pg_catalog; SELECT make_day({day});
         UPDATE found f SET day = {day} WHERE EXISTS (SELECT FROM activity a WHERE a.seq = f.seq AND a.chain = 1 AND a.n <= {n});
         UPDATE activity SET day = {day} WHERE chain = 1 AND n <= {n};
         TRUNCATE day_span, span, rollup, rollup_rule, recent; UPDATE meta SET counted = 0"
    ));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn retention_drops_whole_days_and_the_rest_verifies_with_postgres() {
    let shared = SharedLog::new();
    let store = shared.open();
    fill(&store, 300);
    drop(store);
    age(&shared, 20, 99);
    age(&shared, 30, 49);
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
    let mut options = shared.options();
    options.retention = Retention {
        max_age: Some(DAY * 25),
        floor: DAY,
        ..Retention::FOR_EVER
    };
    let store = Store::open(&options).expect("opens");
    wait_until("a day is removed", || store.stats().removed > 0);
    let all = Query {
        limit: 1000,
        ..Query::default()
    };
    let left = store.reader().list(&all).expect("a page").activities;
    assert_eq!(store.stats().removed, 50);
    assert_eq!(left.len(), 303 - 50);
    drop(store);
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.records, 304 - 50);
}

/// A restored cluster counts its transactions from the beginning: places must grow all the same.
#[test]
#[ignore = "needs PostgreSQL"]
fn places_grow_on_after_a_dump_is_restored_elsewhere_with_postgres() {
    let shared = SharedLog::new();
    for _ in 0..3 {
        fill(&shared.open(), 200);
    }
    shared.cluster.sql(
        "DO $$ BEGIN FOR i IN 1..3000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$",
    );
    fill(&shared.open(), 10);
    let highest = shared.count("max(seq) FROM countersign.activity");
    let dump = shared.home.path().join("dump.sql");
    let mut pg_dump = shared.cluster.command("pg_dump");
    pg_dump.args(["-h", "127.0.0.1", "-U", "postgres", "-d", "log", "-p"]);
    let output = pg_dump
        .arg(shared.cluster.port().to_string())
        .output()
        .expect("pg_dump");
    assert!(output.status.success());
    std::fs::write(&dump, output.stdout).expect("written");
    let restored = SharedLog::new();
    let mut psql = restored.cluster.command("psql");
    psql.args([
        "-qX",
        "-v",
        "ON_ERROR_STOP=1",
        "-h",
        "127.0.0.1",
        "-U",
        "postgres",
        "-d",
        "log",
        "-p",
    ]);
    psql.arg(restored.cluster.port().to_string());
    let input = std::fs::File::open(&dump).expect("the dump");
    let output = psql.stdin(input).output().expect("psql");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut options = shared.options();
    options.postgres_url = Some(restored.cluster.url());
    fill(&Store::open(&options).expect("opens"), 5);
    let after = restored.count("min(seq) FROM countersign.activity WHERE chain = 5");
    assert!(after > highest, "{after} {highest}");
    let reader = countersign_audit::Reader::open(&options).expect("opens");
    let verification = crate::support::verify(&reader, shared.home.path());
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.chains, 5);
}

/// The indexes that came after the first format.
const LATE_INDEXES: &str =
    "ARRAY['_caller', '_status_server', '_status_tool', '_status_server_tool']";

/// The days of the log, a row each.
const DAYS: &str = "pg_inherits i JOIN pg_class day ON day.oid = i.inhrelid
    WHERE i.inhparent = 'countersign.activity'::regclass";

/// How many of the later indexes the days lack. One that is not ready to be used does not count.
fn missing_late_indexes(shared: &SharedLog) -> u64 {
    shared.count(&format!(
        "count(*) FROM unnest({LATE_INDEXES}) AS late(suffix), {DAYS} AND NOT EXISTS (
             SELECT FROM pg_index x JOIN pg_class n ON n.oid = x.indexrelid
             WHERE x.indrelid = day.oid AND x.indisvalid AND n.relname = day.relname || suffix)"
    ))
}

#[test]
#[ignore = "needs PostgreSQL"]
fn days_of_an_earlier_format_get_the_later_indexes_with_postgres() {
    let shared = SharedLog::new();
    let store = shared.open();
    fill(&store, 50);
    // The days to come are made in the background.
    wait_until("there are several days", || {
        shared.count(&format!("count(*) FROM {DAYS}")) > 1
    });
    drop(store);
    assert_eq!(missing_late_indexes(&shared), 0);
    // As an earlier build left it: its days have no such indexes, and it knows nothing of formats 4 and 5.
    shared.cluster.sql(&format!(
        "DO $$ DECLARE i regclass; BEGIN FOR i IN SELECT c.oid FROM pg_class c JOIN unnest({LATE_INDEXES}) AS late(suffix)
             ON c.relname ~ ('^activity_[0-9]+' || suffix || '$') LOOP EXECUTE 'DROP INDEX ' || i; END LOOP; END $$;
         DROP FUNCTION countersign.caller_of; DROP TABLE countersign.revocation; UPDATE countersign.meta SET version = 3"
    ));
    assert!(missing_late_indexes(&shared) > 4, "of several days");
    let store = shared.open();
    wait_until("the indexes are built", || {
        missing_late_indexes(&shared) == 0
    });
    fill(&store, 50);
    drop(store);
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
}
