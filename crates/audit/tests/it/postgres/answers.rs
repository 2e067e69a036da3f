//! Every question has the same answer on both databases.

use std::time::Duration;

use countersign_audit::{
    Decision, Evidence, ExportFormat, Filter, GroupBy, Kind, Mode, Outcome, Query, Reader, Record,
    Severity, Stage, Store, StoredRecord, Timestamp, ToolDeclaration,
};

use super::{SharedLog, wait_until};
use crate::support::{DataDir, finding, wait_for_index};

const RECORDS: u64 = 600;
const KINDS: [Kind; 4] = [
    Kind::ToolCall,
    Kind::ToolCall,
    Kind::ResourceRead,
    Kind::ServerChange,
];
const RULES: [(Stage, &str); 4] = [
    (Stage::Contract, "schema.type"),
    (Stage::Contract, "schema.required"),
    (Stage::Guard, "guard.max_depth"),
    (Stage::Sanitise, "token.chatml"),
];
const DECISIONS: [Decision; 4] = [
    Decision::Allowed,
    Decision::Flagged,
    Decision::Rewritten,
    Decision::Blocked,
];
const CALLERS: [Option<&str>; 8] = [
    None,
    Some("key:ci"),
    Some("key:ci\"d"),
    Some("corp:\\é\"\0"),
    Some("corp:\\é\u{FFFD}"),
    Some("key:"),
    Some("id:a\0da"),
    Some("key:ci2"),
];
/// Minutes before now.
const AGES: [u64; 5] = [0, 2, 70, 300, 3000];

/// Records of every kind, the same each time but for their ids.
fn corpus(store: &Store) -> Vec<Record> {
    let now = Timestamp::now();
    let mut records: Vec<Record> = Vec::new();
    for i in 0..RECORDS {
        let pick = |salt: u64, len: usize| {
            let mixed = (i + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            usize::try_from(mixed).expect("small") % len
        };
        let mut record = if pick(1, 3) == 0 {
            let mut record = Record::decided(store.next_id(), DECISIONS[pick(2, 4)]);
            record.mode = Some([Mode::Strict, Mode::Warn][pick(3, 2)]);
            record.parent_id = records.last().map(Record::id);
            let found = RULES.iter().skip(pick(4, 4)).take(pick(5, 3));
            record.findings = found.map(|(stage, rule)| finding(*stage, rule)).collect();
            if pick(6, 2) == 0 {
                record
                    .findings
                    .iter_mut()
                    .for_each(|finding| finding.severity = Severity::Info);
            }
            record
        } else {
            let outcomes = [
                Outcome::Success,
                Outcome::Success,
                Outcome::Error,
                Outcome::Rejected,
            ];
            let mut record = Record::new(store.next_id(), KINDS[pick(7, 4)], outcomes[pick(8, 4)]);
            record.validated = pick(9, 2) == 0;
            record
        };
        let names = [
            None,
            Some("files"),
            Some("crm"),
            Some("sh'op"),
            Some("n\0ul"),
        ];
        record.server = names[pick(10, 5)].map(str::to_owned);
        record.tool =
            [None, Some("read"), Some("search"), Some("files")][pick(11, 4)].map(str::to_owned);
        record.client = Some("agent\u{0}1.0".to_owned());
        record.caller = CALLERS[pick(14, 8)].map(str::to_owned);
        record.request_id =
            [None, Some("7"), Some("a\0b"), Some("a\u{FFFD}b")][pick(12, 4)].map(str::to_owned);
        record.timestamp = now.before(Duration::from_mins(AGES[pick(13, 5)]));
        records.push(record);
    }
    records
}

/// Every filter by itself.
fn filters(records: &[Record]) -> Vec<(&'static str, String)> {
    let parent = records.iter().find_map(|record| record.parent_id);
    vec![
        ("type", "tool_call".into()),
        ("type", "policy_decision,server_change".into()),
        ("status", "blocked".into()),
        ("status", "success,rejected".into()),
        ("decision", "flagged".into()),
        ("decision", "rewritten,allowed".into()),
        ("stage", "contract,guard".into()),
        ("rule", "schema.type".into()),
        ("rule", "token.chatml,schema.required".into()),
        ("server", "files".into()),
        ("server", "crm,sh'op,none".into()),
        ("server", "n\0ul".into()),
        ("tool", "read,files".into()),
        ("caller", "key:ci".into()),
        ("caller", "id:a\0da,none".into()),
        ("caller", "key:ci\"d".into()),
        ("caller", "corp:\\é\"\0,key:".into()),
        ("caller", "corp:none".into()),
        ("since", "1h".into()),
        ("since", "1m".into()),
        ("until", "1h".into()),
        ("request_id", "7".into()),
        ("request_id", "a\0b".into()),
        ("parent_id", parent.expect("a decision").to_string()),
    ]
}

fn bare(records: &[StoredRecord]) -> Vec<&Record> {
    let records = records.iter().map(|stored| &stored.record);
    records
        .filter(|record| !matches!(record.kind(), Kind::SystemStart | Kind::SystemStop))
        .collect()
}

/// All pages of a query, and the total that each of them gave.
fn pages(
    reader: &Reader,
    pairs: &[(&str, &str)],
    now: Timestamp,
) -> (Vec<StoredRecord>, Option<u64>) {
    let mut query = Query::from_pairs(pairs.iter().copied(), now).expect("a query");
    query.limit = 97;
    query.total = true;
    let (mut records, mut total) = (Vec::new(), None);
    loop {
        let page = reader.list(&query).expect("a page");
        assert_eq!(page.unreadable, 0);
        total = total.or(page.total);
        records.extend(page.activities);
        let Some(cursor) = page.next_cursor else {
            return (records, total);
        };
        query.set("cursor", &cursor, now).expect("its own cursor");
    }
}

fn both() -> (DataDir, SharedLog, [Store; 2], Vec<Record>) {
    let (file, shared) = (DataDir::new(), SharedLog::new());
    let stores = [file.open(), shared.open()];
    let records = corpus(&stores[0]);
    for store in &stores {
        for chunk in records.chunks(50) {
            let committed = store.commit_blocking((), chunk.to_vec());
            assert_eq!(committed.evidence(), Evidence::Committed);
        }
    }
    (file, shared, stores, records)
}

/// Both databases find the same records with these filters, and count as many.
fn assert_alike(stores: &[Store; 2], filters: &[&(&str, String)], now: Timestamp) {
    let pairs: Vec<(&str, &str)> = filters
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    let [file, postgres] = [0, 1].map(|at: usize| pages(stores[at].reader(), &pairs, now));
    assert_eq!(bare(&file.0), bare(&postgres.0), "{pairs:?}");
    let starts = |found: &[StoredRecord]| found.len() - bare(found).len();
    let total = |found: &(Vec<StoredRecord>, Option<u64>)| {
        found.1.map(|total| total - starts(&found.0) as u64)
    };
    assert_eq!(total(&file), total(&postgres), "{pairs:?}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn every_filter_alone_and_in_pairs_answers_alike_with_postgres() {
    let (_file, shared, stores, records) = both();
    let now = Timestamp::now();
    let filters = filters(&records);
    // Once before anything is counted or indexed, and once after.
    for round in 0..2 {
        for (i, one) in filters.iter().enumerate() {
            for other in &filters[i..] {
                assert_alike(&stores, &[one, other], now);
            }
        }
        // These three together have an index of their own.
        let of = |key| filters.iter().filter(move |filter| filter.0 == key);
        for status in of("status") {
            for server in of("server") {
                for tool in of("tool") {
                    assert_alike(&stores, &[status, server, tool], now);
                }
            }
        }
        if round == 0 {
            wait_for_index(&stores[0]);
            wait_until("everything is counted", || {
                shared.count("counted FROM countersign.meta")
                    == shared.count("max(seq) FROM countersign.activity")
            });
        }
    }
    let found = pages(stores[1].reader(), &[("server", "n\0ul")], now).0;
    assert!(!found.is_empty(), "a name with NUL is found");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn summaries_exports_and_single_records_are_alike_with_postgres() {
    let (_file, shared, stores, records) = both();
    let now = Timestamp::now();
    for round in 0..2 {
        for by in [GroupBy::Server, GroupBy::Tool, GroupBy::Rule] {
            for hours in [1, 24, 24 * 7] {
                let period = Duration::from_hours(hours);
                let [file, mut postgres] = [0, 1].map(|at: usize| {
                    stores[at]
                        .reader()
                        .summary(by, period, now)
                        .expect("a summary")
                });
                // A column has no NUL.
                for row in &mut postgres.rows {
                    row.server = row.server.take().map(|name| name.replace('\u{FFFD}', "\0"));
                }
                let mut file = file;
                for summary in [&mut file, &mut postgres] {
                    summary.rows.sort_by_key(|row| {
                        (row.server.clone(), row.tool.clone(), row.rule.clone())
                    });
                }
                assert_eq!(file, postgres, "{by:?} {hours}");
            }
        }
        let period = Duration::from_hours(24 * 7);
        let [file, postgres] =
            [0, 1].map(|at: usize| stores[at].reader().hours(period, now).expect("hours"));
        assert_eq!(file, postgres);
        if round == 0 {
            wait_for_index(&stores[0]);
            wait_until("everything is counted", || {
                shared.count("counted FROM countersign.meta")
                    == shared.count("max(seq) FROM countersign.activity")
            });
        }
    }
    let export = |store: &Store, filter: &Filter| {
        let mut out = Vec::new();
        let exported = store.reader().export(filter, ExportFormat::Csv, &mut out);
        exported.expect("exported");
        let text = String::from_utf8(out).expect("text");
        let lines = text.lines().filter(|line| !line.contains("system_start"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    for pairs in [
        vec![],
        vec![("since", "1h")],
        vec![("status", "blocked"), ("since", "1d")],
    ] {
        let filter = Filter::from_pairs(pairs.clone(), now).expect("a filter");
        let [file, postgres] = [0, 1].map(|at: usize| export(&stores[at], &filter));
        assert!(file.len() > 1, "{pairs:?}");
        assert_eq!(file.len(), postgres.len(), "{pairs:?}");
    }
    for record in records.iter().step_by(37) {
        let shown = stores[1]
            .reader()
            .show(record.id())
            .expect("read")
            .expect("there");
        assert_eq!(&shown.record, record);
        assert!(shown.prev.is_some());
    }
    let unknown = stores[1].next_id().id;
    assert_eq!(stores[1].reader().show(unknown).expect("read"), None);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_generation_belongs_to_its_digest_with_postgres() {
    let shared = SharedLog::new();
    let store = shared.open();
    let reader = store.reader();
    let put = |tool: &str, digest: &str, raw: &str| {
        let raw = raw.as_bytes();
        let declared = ToolDeclaration { tool, digest, raw };
        let generation = reader.put_tools("crm", &[declared]).expect("put")[0];
        (generation.number, generation.is_new)
    };
    assert_eq!(put("search", "d1", "one"), (1, true));
    assert_eq!(put("search", "d1", "one"), (1, false));
    assert_eq!(put("search", "d2", "two"), (2, true));
    assert_eq!(put("search", "d1", "one"), (1, false));
    let current = reader
        .tool("crm", "search", None)
        .expect("read")
        .expect("there");
    assert_eq!(
        (current.generation, current.raw.as_slice()),
        (1, &b"one"[..])
    );
    let earlier = reader
        .tool("crm", "search", Some(2))
        .expect("read")
        .expect("there");
    assert_eq!(earlier.raw, b"two");
    for i in 3..=40 {
        assert_eq!(put("search", &format!("d{i}"), "x"), (i, true));
    }
    assert!(
        reader
            .tool("crm", "search", Some(24))
            .expect("read")
            .is_none()
    );
    assert!(
        reader
            .tool("crm", "search", Some(25))
            .expect("read")
            .is_some()
    );
    put("add\0", "a", "{}");
    let names: Vec<String> = reader
        .tools("crm")
        .expect("list")
        .into_iter()
        .map(|tool| tool.tool)
        .collect();
    assert_eq!(names, ["add\u{FFFD}", "search"]);
    assert_eq!(reader.remove_tools("crm").expect("removed"), 17);
}
