//! Listing: every filter, alone and together, against a naive one; pages that do not shift.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_audit::{
    Decision, Evidence, Kind, MAX_LIMIT, Mode, Outcome, PayloadPolicy, Payloads, Query, Record,
    Redactor, Severity, Stage, Store, StoredRecord, Timestamp,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use crate::support::{DataDir, blocked, call, fill, finding, wait_for_index};

const SERVERS: [&str; 3] = ["files", "crm", "sh'op"];
const TOOLS: [&str; 3] = ["read", "search", "files"];
const CALLERS: [&str; 3] = ["key:ci", "corp:é\"7", "files"];
const RULES: [(Stage, &str); 4] = [
    (Stage::Contract, "schema.type"),
    (Stage::Contract, "schema.required"),
    (Stage::Guard, "guard.max_depth"),
    (Stage::Sanitise, "token.chatml"),
];
const KINDS: [Kind; 4] = [
    Kind::ToolCall,
    Kind::ResourceRead,
    Kind::ServerChange,
    Kind::SchemaDiagnostic,
];
const DECISIONS: [Decision; 4] = [
    Decision::Allowed,
    Decision::Flagged,
    Decision::Rewritten,
    Decision::Blocked,
];
/// Minutes before now that records carry, so that `since` and `until` have something to cut.
const AGES: [u64; 6] = [0, 1, 9, 11, 70, 3000];

#[derive(Debug, Clone)]
pub(crate) struct Shape {
    kind: Option<Kind>,
    decision: Decision,
    outcome: u8,
    server: Option<&'static str>,
    tool: Option<&'static str>,
    caller: Option<&'static str>,
    rules: Vec<(Stage, &'static str)>,
    request: u8,
    age: u64,
}

pub(crate) fn shape() -> impl Strategy<Value = Shape> {
    (
        proptest::option::weighted(0.6, select(&KINDS[..])),
        select(&DECISIONS[..]),
        0_u8..3,
        proptest::option::weighted(0.8, select(&SERVERS[..])),
        proptest::option::weighted(0.8, select(&TOOLS[..])),
        proptest::option::weighted(0.8, select(&CALLERS[..])),
        proptest::collection::vec(select(&RULES[..]), 0..3),
        0_u8..5,
        select(&AGES[..]),
    )
        .prop_map(
            |(kind, decision, outcome, server, tool, caller, rules, request, age)| Shape {
                kind,
                decision,
                outcome,
                server,
                tool,
                caller,
                rules,
                request,
                age,
            },
        )
}

pub(crate) fn record(
    store: &Store,
    shape: &Shape,
    parent: Option<&Record>,
    now: Timestamp,
) -> Record {
    let outcome = [Outcome::Success, Outcome::Error, Outcome::Rejected][usize::from(shape.outcome)];
    let mut record = match shape.kind {
        Some(kind) => Record::new(store.next_id(), kind, outcome),
        None => Record::decided(store.next_id(), shape.decision),
    };
    record.server = shape.server.map(str::to_owned);
    record.tool = shape.tool.map(str::to_owned);
    record.caller = shape.caller.map(str::to_owned);
    record.findings = shape
        .rules
        .iter()
        .map(|(stage, rule)| finding(*stage, rule))
        .collect();
    record.request_id = (shape.request > 0).then(|| shape.request.to_string());
    record.parent_id = parent.filter(|_| shape.kind.is_none()).map(Record::id);
    record.timestamp = now.before(Duration::from_mins(shape.age));
    record
}

/// A filter as a person writes it: parameter and value.
pub(crate) fn filter() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let words = |all: Vec<&'static str>| {
        proptest::sample::subsequence(all.clone(), 1..=2.min(all.len()))
            .prop_map(|words| words.join(","))
    };
    let part = prop_oneof![
        words(vec![
            "tool_call",
            "policy_decision",
            "resource_read",
            "system_start"
        ])
        .prop_map(|v| ("type", v)),
        words(vec![
            "success",
            "error",
            "rejected",
            "flagged",
            "rewritten",
            "blocked"
        ])
        .prop_map(|v| ("status", v)),
        words(vec!["allowed", "flagged", "rewritten", "blocked"]).prop_map(|v| ("decision", v)),
        words(vec!["guard", "contract", "sanitise", "input"]).prop_map(|v| ("stage", v)),
        words(vec![
            "schema.type",
            "guard.max_depth",
            "token.chatml",
            "schema.never"
        ])
        .prop_map(|v| ("rule", v)),
        words(vec!["files", "crm", "sh'op", "nowhere"]).prop_map(|v| ("server", v)),
        words(vec!["read", "search", "files", "nothing"]).prop_map(|v| ("tool", v)),
        words(vec!["key:ci", "corp:é\"7", "files", "key:none"]).prop_map(|v| ("caller", v)),
        select(vec!["5m", "10m", "1h", "60h"]).prop_map(|v| ("since", v.to_owned())),
        select(vec!["5m", "10m", "1h", "60h"]).prop_map(|v| ("until", v.to_owned())),
        select(vec!["1", "2", "9"]).prop_map(|v| ("request_id", v.to_owned())),
        Just(("parent_id", "PARENT".to_owned())),
    ];
    proptest::collection::vec(part, 0..4)
}

/// The obvious way: look at each record's JSON.
fn naive(record: &Value, filter: &[(&'static str, String)], now: Timestamp) -> bool {
    let merged = |key: &str| -> Vec<&str> {
        filter
            .iter()
            .filter(|(k, _)| *k == key)
            .flat_map(|(_, v)| v.split(','))
            .collect()
    };
    let findings = |member: &str| -> Vec<String> {
        let all = record["findings"].as_array().cloned().unwrap_or_default();
        all.iter()
            .filter_map(|f| f[member].as_str().map(str::to_owned))
            .collect()
    };
    let at: Timestamp = record["timestamp"]
        .as_str()
        .expect("text")
        .parse()
        .expect("time");
    filter.iter().all(|(key, value)| match *key {
        "stage" => findings("stage")
            .iter()
            .any(|s| merged("stage").contains(&s.as_str())),
        "rule" => findings("rule")
            .iter()
            .any(|r| merged("rule").contains(&r.as_str())),
        "since" => filter
            .iter()
            .rfind(|(k, _)| k == key)
            .is_none_or(|(_, last)| at >= Timestamp::parse_relative(last, now).expect("time")),
        "until" => filter
            .iter()
            .rfind(|(k, _)| k == key)
            .is_none_or(|(_, last)| at < Timestamp::parse_relative(last, now).expect("time")),
        "request_id" => filter
            .iter()
            .rfind(|(k, _)| k == key)
            .is_some_and(|(_, last)| record[*key].as_str() == Some(last)),
        "parent_id" => record[*key].as_str() == Some(value),
        "decision" if merged(key).contains(&"flagged") && record[*key] == "rewritten" => {
            merged(key).contains(&"rewritten") || !findings("stage").is_empty()
        }
        _ => record[*key]
            .as_str()
            .is_some_and(|word| merged(key).contains(&word)),
    })
}

pub(crate) fn page_through(store: &Store, query: &Query) -> Vec<StoredRecord> {
    let mut query = query.clone();
    let mut all = Vec::new();
    loop {
        let page = store.reader().list(&query).expect("list");
        assert!(page.activities.len() <= query.limit);
        assert_eq!(page.unreadable, 0);
        all.extend(page.activities);
        match page.next_cursor {
            Some(cursor) => query
                .set("cursor", &cursor, Timestamp::now())
                .expect("own cursor"),
            None => return all,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, ..ProptestConfig::default() })]
    #[test]
    fn filters_agree_with_a_naive_one(
        indexed in proptest::collection::vec(shape(), 0..80),
        fresh in proptest::collection::vec(shape(), 0..10),
        filters in proptest::collection::vec(filter(), 25),
        limit in 1_usize..9,
    ) {
        let now = Timestamp::now();
        let data_dir = DataDir::new();
        let store = data_dir.open();
        let parent = call(&store, "files", "read");
        for (shapes, wait) in [(&indexed, true), (&fresh, false)] {
            let records: Vec<Record> = shapes.iter().map(|s| record(&store, s, Some(&parent), now)).collect();
            prop_assert_eq!(store.commit_blocking((), records).evidence(), Evidence::Committed);
            if wait {
                wait_for_index(&store);
            }
        }
        let everything: Vec<Value> = store.reader().records_after(0, &countersign_audit::Filter::default(), 1000).expect("all").records
            .iter().rev().map(|r| serde_json::to_value(r).expect("JSON")).collect();
        prop_assert_eq!(everything.len(), indexed.len() + fresh.len() + 1);
        for pairs in filters {
            let pairs: Vec<(&str, String)> = pairs.into_iter()
                .map(|(k, v)| (k, if v == "PARENT" { parent.id().to_string() } else { v })).collect();
            let mut query = Query::from_pairs(pairs.iter().map(|(k, v)| (k, v)), now).expect("allowed");
            query.limit = limit;
            query.total = true;
            let expected: Vec<&str> = everything.iter().filter(|r| naive(r, &pairs, now)).map(|r| r["id"].as_str().expect("id")).collect();
            let found: Vec<String> = page_through(&store, &query).iter().map(|r| r.record.id().to_string()).collect();
            prop_assert_eq!(&found, &expected, "{:?}", pairs);
            prop_assert_eq!(store.reader().list(&query).expect("list").total, Some(expected.len() as u64), "{:?}", pairs);
        }
    }
}

#[test]
fn a_broken_contract_is_found_as_flagged_though_its_text_was_rewritten() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    let decided = |mode, findings| {
        let mut record = Record::decided(store.next_id(), Decision::Rewritten);
        record.mode = Some(mode);
        record.findings = findings;
        record
    };
    let mut missing = finding(Stage::Contract, "contract.missing");
    missing.severity = Severity::Info;
    let envelope = finding(Stage::Transport, "transport.foreign_member");
    let broken = vec![envelope.clone(), finding(Stage::Contract, "schema.type")];
    let screened = vec![
        envelope.clone(),
        finding(Stage::Classify, "classifier.local"),
    ];
    let records = [
        decided(Mode::Warn, broken.clone()),
        decided(Mode::Warn, screened),
        decided(Mode::Warn, vec![envelope, missing]),
        decided(Mode::Off, broken),
    ];
    let ids: Vec<_> = records.iter().map(Record::id).collect();
    let query =
        |decision| Query::from_pairs([("decision", decision)], Timestamp::now()).expect("a query");
    let found = |decision| -> Vec<_> {
        let page = store.reader().list(&query(decision)).expect("list");
        let ids = page.activities.iter().rev();
        ids.map(|stored| stored.record.id()).collect()
    };
    assert_eq!(
        store.commit_blocking((), records.to_vec()).evidence(),
        Evidence::Committed
    );
    for _is_indexed in [false, true] {
        assert_eq!(found("rewritten"), ids);
        assert_eq!(found("flagged"), ids[..2]);
        assert_eq!(found("flagged,rewritten"), ids);
        assert!(found("allowed,blocked").is_empty());
        wait_for_index(&store);
    }
    drop(store);
    assert_eq!(data_dir.first_break(), None);
}

#[test]
fn pages_do_not_shift_while_records_arrive() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    fill(&store, 3000);
    let known = *store.latest().borrow();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    fill(&store, 20);
                }
            });
        }
        let mut query = Query {
            limit: 37,
            ..Query::default()
        };
        query.set("tool", "tool3", Timestamp::now()).expect("set");
        let all = page_through(&store, &query);
        stop.store(true, Ordering::Relaxed);
        let seqs: Vec<u64> = all.iter().map(|r| r.seq).collect();
        assert!(
            seqs.windows(2).all(|pair| pair[0] > pair[1]),
            "newest first, none twice"
        );
        let old: Vec<u64> = seqs.into_iter().filter(|seq| *seq <= known).collect();
        let expected = store
            .reader()
            .records_after(0, &query.filter, 10_000)
            .expect("after")
            .records;
        let expected: Vec<u64> = expected
            .iter()
            .map(|r| r.seq)
            .filter(|seq| *seq <= known)
            .rev()
            .collect();
        assert_eq!(old, expected, "every record that was there, once");
    });
}

#[test]
fn a_page_holds_no_more_than_it_may() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    let policy = PayloadPolicy::new(Payloads::Full, 64 * 1024, Redactor::default());
    let payload = vec![b'x'; 64 * 1024];
    for _ in 0..40 {
        let records: Vec<Record> = (0..10)
            .map(|_| {
                let mut record = call(&store, "files", "read");
                record.response = policy.capture(&payload, true);
                record
            })
            .collect();
        let written = store.commit_blocking((), records);
        assert_eq!(written.evidence(), Evidence::Committed);
    }
    for indexed in [false, true] {
        if indexed {
            wait_for_index(&store);
        }
        let query = Query {
            limit: MAX_LIMIT,
            ..Query::default()
        };
        let page = store.reader().list(&query).expect("a page");
        let size = serde_json::to_vec(&page).expect("JSON").len();
        assert!((8 << 20..9 << 20).contains(&size), "{size}");
        assert!(page.next_cursor.is_some());
        assert_eq!(
            page_through(&store, &query).len(),
            401,
            "all of them, and the start"
        );
    }
}

#[test]
fn a_record_is_shown_by_id_indexed_or_not() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    fill(&store, 10);
    let records = blocked(&store, "stub", "bad_output");
    let ids = records.each_ref().map(Record::id);
    let written = records.clone();
    assert_eq!(
        store.commit_blocking((), records).evidence(),
        Evidence::Committed
    );
    for wait in [false, true] {
        if wait {
            wait_for_index(&store);
        }
        let decision = store.reader().show(ids[1]).expect("show").expect("there");
        assert_eq!(decision.record, written[1]);
        let call = store.reader().show(ids[0]).expect("show").expect("there");
        assert_eq!(
            decision.prev,
            Some(call.hash),
            "the decision follows its call"
        );
        let json = serde_json::to_value(&decision).expect("JSON");
        assert_eq!(json["type"], "policy_decision");
        assert_eq!(
            (&json["server"], &json["tool"], &json["mode"]),
            (&"stub".into(), &"bad_output".into(), &"strict".into())
        );
        assert_eq!(json["findings"][0]["instance_pointer"], "/id");
        assert_eq!(json["parent_id"], ids[0].to_string());
    }
    assert_eq!(store.reader().show(store.next_id().id).expect("show"), None);
}

#[test]
fn a_page_has_the_shape_the_interface_promises() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    assert_eq!(
        store
            .commit_blocking((), blocked(&store, "stub", "bad_output"))
            .evidence(),
        Evidence::Committed
    );
    let query = Query::from_pairs(
        [("type", "policy_decision"), ("limit", "5")],
        Timestamp::now(),
    )
    .expect("query");
    let json = serde_json::to_value(store.reader().list(&query).expect("list")).expect("JSON");
    assert_eq!(json["activities"][0]["decision"], "blocked");
    assert_eq!(json["activities"][0]["tool"], "bad_output");
    assert!(
        json["activities"][0]["reason"]
            .as_str()
            .is_some_and(|r| r.starts_with("output schema validation failed: "))
    );
    assert_eq!(
        json.as_object().expect("object").keys().collect::<Vec<_>>(),
        ["activities"],
        "no total, no cursor unless there is one"
    );
}

#[test]
fn a_reader_without_a_writer_finds_everything_even_without_an_index() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    fill(&store, 4500);
    drop(store);
    for name in [
        "activity-index.db",
        "activity-index.db-wal",
        "activity-index.db-shm",
    ] {
        std::fs::remove_file(data_dir.path().join(name)).ok();
    }
    let query = Query::from_pairs([("server", "files"), ("total", "true")], Timestamp::now())
        .expect("query");
    let page = data_dir.reader().list(&query).expect("list");
    assert_eq!((page.activities.len(), page.total), (50, Some(4500)));
    assert_eq!(data_dir.verify().chains, 1, "reading starts no chain");
}

#[test]
fn a_ruined_index_is_built_anew() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    fill(&store, 300);
    drop(store);
    let path = data_dir.path().join("activity-index.db");
    let ruined = vec![0x5a; 8192];
    std::fs::write(&path, ruined).expect("ruined");
    std::fs::remove_file(data_dir.path().join("activity-index.db-wal")).ok();
    let query = Query::from_pairs([("tool", "tool3")], Timestamp::now()).expect("query");
    assert_eq!(
        data_dir
            .reader()
            .list(&query)
            .expect("list")
            .activities
            .len(),
        42
    );
    assert!(data_dir.verify().is_intact());
}

#[test]
fn a_record_that_cannot_be_decoded_is_counted_not_hidden() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    fill(&store, 5);
    wait_for_index(&store);
    data_dir
        .sqlite()
        .execute("UPDATE activity SET body = x'7b7d' WHERE seq = 4", [])
        .expect("damaged");
    let page = store.reader().list(&Query::default()).expect("list");
    assert_eq!((page.activities.len(), page.unreadable), (5, 1));
}

#[test]
fn an_index_that_lies_is_found_out() {
    for (sql, seq) in [
        // The status `blocked`, the rule, the status with server and with tool, the key of the first record, the dictionary.
        ("DELETE FROM posting WHERE term = 81", Some(3)),
        ("UPDATE posting SET term = 65 WHERE term = 81", Some(3)),
        ("DELETE FROM posting WHERE term % 16 = 5", Some(3)),
        ("DELETE FROM posting WHERE term % 16 = 8", Some(3)),
        ("DELETE FROM posting WHERE term % 16 = 9", Some(3)),
        ("DELETE FROM key", Some(1)),
        (
            "UPDATE name SET text = 'other' WHERE text = 'bad_output'",
            Some(2),
        ),
        ("DELETE FROM batch", Some(1)),
        ("UPDATE key SET run = run + 100", Some(1)),
        // The times of the ids in a run: of all runs, and of one that an empty run with the right times stands before.
        ("UPDATE run SET oldest_id = newest_id + 1", Some(1)),
        ("UPDATE run SET newest_id = 0", Some(1)),
        (
            "INSERT INTO run SELECT id + 100, level, last - 1, 0, oldest_id, newest_id FROM run WHERE id = (SELECT max(id) FROM run);
             UPDATE run SET newest_id = 0 WHERE count > 0",
            None,
        ),
        // What cannot be read at all, or is not where it is looked for.
        ("UPDATE batch SET greatest = greatest + 1", None),
        ("UPDATE key SET hash = hash - 1", None),
        (
            "INSERT INTO epoch VALUES (7); UPDATE posting SET epoch = 7",
            None,
        ),
        (
            "UPDATE batch SET times = CAST(times || x'00' AS BLOB)",
            None,
        ),
        ("UPDATE batch SET seqs = zeroblob(100000)", None),
        ("UPDATE posting SET seqs = x'02'", None),
        ("UPDATE posting SET seqs = x'00ffffffffffffffffffff'", None),
        ("UPDATE key SET keys = x'ffff'", None),
    ] {
        let data_dir = DataDir::new();
        let store = data_dir.open();
        assert_eq!(
            store
                .commit_blocking((), blocked(&store, "stub", "bad_output"))
                .evidence(),
            Evidence::Committed
        );
        wait_for_index(&store);
        drop(store);
        let index =
            rusqlite::Connection::open(data_dir.path().join("activity-index.db")).expect("index");
        index.execute_batch(sql).expect(sql);
        let found = data_dir.first_break().expect(sql);
        assert_eq!(
            found.kind,
            countersign_audit::BreakKind::WrongIndex,
            "{sql}"
        );
        assert_eq!(found.seq, seq, "{sql}");
    }
}

#[test]
fn records_are_found_by_their_caller_indexed_or_not() {
    let data_dir = DataDir::new();
    let store = data_dir.open();
    for turn in 0..300 {
        let mut record = call(&store, "files", "read");
        record.caller = (turn % 3 > 0).then(|| format!("key:{}", turn % 3));
        let written = store.commit_blocking((), vec![record]);
        assert_eq!(written.evidence(), Evidence::Committed);
    }
    for indexed in [false, true] {
        if indexed {
            wait_for_index(&store);
        }
        for (callers, expected) in [("key:1", 100), ("key:1,key:2", 200), ("key:3", 0)] {
            let pairs = [("caller", callers), ("server", "files"), ("total", "true")];
            let query = Query::from_pairs(pairs, Timestamp::now()).expect("a query");
            let page = store.reader().list(&query).expect("a page");
            assert_eq!(page.total, Some(expected), "{callers}");
            assert_eq!(page.activities.len() as u64, expected.min(50), "{callers}");
        }
    }
}
