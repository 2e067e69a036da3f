//! Summaries: the roll-up and the newest records together, and the rising mark.

use std::time::Duration;

use countersign_audit::{Decision, Evidence, GroupBy, Record, Stage, Store, Timestamp};

use crate::support::{Home, blocked, call, fill, finding, wait_for_index};

const DAY: Duration = Duration::from_hours(24);

fn write(store: &Store, records: impl IntoIterator<Item = Record>) {
    assert_eq!(
        store.commit_blocking((), records).evidence(),
        Evidence::Committed
    );
}

#[test]
fn counts_are_the_same_indexed_or_not() {
    let home = Home::new();
    let store = home.open();
    fill(&store, 100);
    write(&store, blocked(&store, "stub", "bad"));
    let mut hit = Record::decided(store.next_id(), Decision::Rewritten);
    hit.server = Some("stub".into());
    hit.tool = Some("chat".into());
    hit.findings = vec![
        finding(Stage::Sanitise, "token.chatml"),
        finding(Stage::Sanitise, "token.chatml"),
    ];
    write(&store, [hit]);
    let now = Timestamp::now();
    let all = || {
        [GroupBy::Server, GroupBy::Tool, GroupBy::Rule]
            .map(|by| store.reader().summary(by, DAY, now).expect("summary"))
    };
    let before = all();
    wait_for_index(&store);
    assert_eq!(before, all());
    let [by_server, by_tool, by_rule] = before;
    assert_eq!(by_server.total, 104);
    assert_eq!(
        (
            by_server.types["tool_call"],
            by_server.types["policy_decision"],
            by_server.types["system_stop"]
        ),
        (101, 2, 0)
    );
    assert_eq!(
        (
            by_server.statuses["blocked"],
            by_server.statuses["rewritten"],
            by_server.statuses["rejected"]
        ),
        (1, 1, 0)
    );
    let stub = by_server
        .rows
        .iter()
        .find(|row| row.server.as_deref() == Some("stub"))
        .expect("a row");
    assert_eq!(
        (
            stub.total,
            stub.validated,
            stub.contract_rejections,
            stub.token_hits
        ),
        (3, 1, 1, 1)
    );
    assert_eq!(stub.rejection_rate, Some(1.0));
    assert_eq!(
        by_server.rows[0].server.as_deref(),
        Some("files"),
        "the most active first"
    );
    assert_eq!(by_tool.rows.len(), 7 + 2);
    let rules: Vec<(&str, u64)> = by_rule
        .rows
        .iter()
        .map(|row| (row.rule.as_deref().expect("rule"), row.total))
        .collect();
    assert_eq!(rules, [("schema.type", 1), ("token.chatml", 1)]);
}

#[test]
fn a_server_that_gets_worse_is_marked() {
    let home = Home::new();
    let store = home.open();
    let now = Timestamp::now();
    let put = |server: &str, ago: Duration, good: usize, bad: usize| {
        for i in 0..good + bad {
            let mut records = if i < bad {
                blocked(&store, server, "t").to_vec()
            } else {
                vec![call(&store, server, "t")]
            };
            for record in &mut records {
                record.timestamp = now.before(ago);
                record.validated = record.decision().is_none();
            }
            write(&store, records);
        }
    };
    for server in ["worse", "same", "few"] {
        put(server, DAY * 3, 95, 5);
    }
    put("worse", Duration::from_mins(30), 16, 4);
    put("same", Duration::from_mins(30), 19, 1);
    put("few", Duration::from_mins(30), 9, 9);
    for _ in 0..2 {
        let summary = store
            .reader()
            .summary(GroupBy::Server, DAY * 7, now)
            .expect("summary");
        let marked: Vec<&str> = summary
            .rows
            .iter()
            .filter(|row| row.rising.is_some())
            .filter_map(|row| row.server.as_deref())
            .collect();
        assert_eq!(marked, ["worse"]);
        let worse = summary
            .rows
            .iter()
            .find_map(|row| row.rising)
            .expect("marked");
        assert!(
            (worse.last_hour_rate - 0.2).abs() < 1e-9 && (worse.trailing_rate - 0.05).abs() < 1e-9,
            "{worse:?}"
        );
        wait_for_index(&store);
    }
}

#[test]
fn a_period_leaves_out_what_is_older() {
    let home = Home::new();
    let store = home.open();
    let now = Timestamp::now();
    let mut old = call(&store, "files", "read");
    old.timestamp = now.before(DAY * 2);
    write(&store, [old, call(&store, "files", "read")]);
    for _ in 0..2 {
        let calls = |period| {
            store
                .reader()
                .summary(GroupBy::Server, period, now)
                .expect("summary")
                .types["tool_call"]
        };
        assert_eq!((calls(DAY), calls(DAY * 3)), (1, 2));
        wait_for_index(&store);
    }
}
