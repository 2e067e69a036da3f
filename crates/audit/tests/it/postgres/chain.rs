//! What was changed in the database is found.

use countersign_audit::BreakKind;

use super::{SharedLog, wait_until};
use crate::support::{blocked, fill};

fn filled() -> SharedLog {
    let shared = SharedLog::new();
    for _ in 0..2 {
        let store = shared.open();
        fill(&store, 30);
        let committed = store.commit_blocking((), blocked(&store, "stub", "bad"));
        assert_eq!(committed.evidence(), countersign_audit::Evidence::Committed);
        wait_until("everything is counted", || {
            shared.count("counted FROM countersign.meta")
                == shared.count("max(seq) FROM countersign.activity")
        });
    }
    shared
}

#[test]
#[ignore = "needs PostgreSQL"]
fn every_change_is_found_and_named_with_postgres() {
    let shared = filled();
    let verification = shared.verify();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.chains, verification.records), (2, 2 * 34));
    for (change, undo, kind) in [
        (
            "UPDATE activity SET body = overlay(body placing 'X'::bytea from 40) WHERE chain = 1 AND n = 7",
            "",
            BreakKind::Changed,
        ),
        (
            "DELETE FROM activity WHERE chain = 1 AND n = 9",
            "",
            BreakKind::OutOfOrder,
        ),
        (
            "DELETE FROM activity WHERE chain = 2 AND n = 33",
            "",
            BreakKind::MissingTail,
        ),
        (
            "DELETE FROM activity WHERE chain = 1",
            "",
            BreakKind::MissingPredecessor,
        ),
        (
            "UPDATE checkpoint SET lost = lost + 1 WHERE chain = 1 AND n = 33",
            "",
            BreakKind::ForgedCheckpoint,
        ),
        (
            "UPDATE activity SET server = 'other' WHERE chain = 1 AND n = 5",
            "",
            BreakKind::WrongIndex,
        ),
        (
            "DELETE FROM found WHERE term LIKE 's:%'",
            "",
            BreakKind::WrongIndex,
        ),
        (
            "UPDATE rollup SET count = count + 1 WHERE server = 'files'",
            "",
            BreakKind::WrongRollup,
        ),
        (
            "UPDATE activity SET chain = 7 WHERE chain = 2 AND n = 33",
            "",
            BreakKind::UnknownChain,
        ),
    ] {
        let copy = |from: &str, to: &str| {
            let tables = ["activity", "found", "checkpoint", "rollup"];
            let each = tables.map(|table| {
                format!(
                    "TRUNCATE {to}{table}; INSERT INTO {to}{table} SELECT * FROM {from}{table};"
                )
            });
            each.concat()
        };
        let tables = ["activity", "found", "checkpoint", "rollup"];
        let make =
            tables.map(|table| format!("CREATE TABLE IF NOT EXISTS kept_{table} (LIKE {table});"));
        let path = "SET search_path = countersign, pg_catalog;";
        shared
            .cluster
            .sql(&format!("{path} {} {}", make.concat(), copy("", "kept_")));
        shared.cluster.sql(&format!("{path} {change}; {undo}"));
        let found = shared
            .verify()
            .first_break
            .unwrap_or_else(|| panic!("not found: {change}"));
        assert_eq!(found.kind, kind, "{change}: {found}");
        shared.cluster.sql(&format!("{path} {}", copy("kept_", "")));
        assert!(shared.verify().is_intact(), "{change}");
    }
}
