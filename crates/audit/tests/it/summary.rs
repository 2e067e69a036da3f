//! Summaries: the roll-up and the newest records together, and the rising mark.

use std::time::Duration;

use countersign_audit::{
    Decision, Evidence, Finding, GroupBy, Record, Severity, Stage, Store, Timestamp,
};
use countersign_inspect::{Action, Carrier, Hit};

use crate::support::{DataDir, blocked, call, fill, finding, wait_for_index};

const DAY: Duration = Duration::from_hours(24);

fn write(store: &Store, records: impl IntoIterator<Item = Record>) {
    assert_eq!(
        store.commit_blocking((), records).evidence(),
        Evidence::Committed
    );
}

fn tokens(severity: Severity, count: u64) -> Finding {
    Finding::new(Stage::Sanitise, "token.chatml", severity).with_hit(Hit {
        carrier: Carrier::Text,
        block: Some(0),
        class: "A".into(),
        family: Some("chatml".into()),
        count,
        offsets: vec![0],
        tokens_not_listed: 0,
        action: Action::Replaced,
        blocked_in_strict: false,
    })
}

#[test]
fn counts_are_the_same_indexed_or_not() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    fill(&store, 100);
    write(&store, blocked(&store, "stub", "bad"));
    let mut hit = Record::decided(store.next_id(), Decision::Rewritten);
    hit.server = Some("stub".into());
    hit.tool = Some("chat".into());
    hit.findings = vec![tokens(Severity::Attack, 3), tokens(Severity::Attack, 2)];
    write(&store, [hit]);
    // Worth knowing only, so it stands on the call and is no hit.
    let mut page = call(&store, "stub", "chat");
    page.findings = vec![tokens(Severity::Info, 7)];
    write(&store, [page]);
    let now = Timestamp::now();
    let all = || {
        [GroupBy::Server, GroupBy::Tool, GroupBy::Rule]
            .map(|by| store.reader().summary(by, DAY, now).expect("summary"))
    };
    let hours = || store.reader().hours(DAY, now).expect("hours");
    let (before, hours_before) = (all(), hours());
    wait_for_index(&store);
    assert_eq!((&before, &hours_before), (&all(), &hours()));
    assert_eq!(hours_before.len(), 25, "the hours that a day touches");
    let sum = |word: &str| {
        let counted = hours_before.iter();
        let counts = counted.map(|hour| hour.types.get(word).or_else(|| hour.statuses.get(word)));
        counts.flatten().sum::<u64>()
    };
    assert_eq!(
        (sum("tool_call"), sum("blocked"), sum("rewritten")),
        (102, 1, 1)
    );
    let [by_server, by_tool, by_rule] = before;
    assert_eq!(by_server.total, 105);
    assert_eq!(
        (
            by_server.types["tool_call"],
            by_server.types["policy_decision"],
            by_server.types["system_stop"]
        ),
        (102, 2, 0)
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
        (4, 1, 1, 5)
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
    assert_eq!(rules, [("token.chatml", 2), ("schema.type", 1)]);
}

#[test]
fn the_rejection_rate_counts_every_way_to_break_a_contract() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    let rejecting = [
        finding(Stage::Contract, "schema.type"),
        finding(Stage::Contract, "contract.missing"),
        finding(Stage::Guard, "guard.max_bytes"),
        finding(Stage::Shape, "shape.base64"),
    ];
    let others = [
        finding(Stage::Transport, "transport.not_json"),
        finding(Stage::Classify, "classifier.local"),
        tokens(Severity::Attack, 1),
    ];
    for finding in rejecting.into_iter().chain(others) {
        let mut records = blocked(&store, "stub", "t");
        records[1].findings = vec![finding];
        write(&store, records);
    }
    for _ in 0..2 {
        let summary = store
            .reader()
            .summary(GroupBy::Server, DAY, Timestamp::now());
        let row = &summary.expect("summary").rows[0];
        assert_eq!((row.validated, row.contract_rejections), (7, 4));
        wait_for_index(&store);
    }
}

#[test]
fn a_server_that_gets_worse_is_marked() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
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
    let data_dir = DataDir::new();
    let store = data_dir.open();
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
