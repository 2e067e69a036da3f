//! Exports, and what must never be in them.

use countersign_audit::{
    Evidence, ExportFormat, Filter, PayloadPolicy, Payloads, Query, Redactor, Status, Store,
};
use serde_json::Value;

use crate::support::{DataDir, blocked, call, fill};

fn export(store: &Store, filter: &Filter, format: ExportFormat) -> (u64, String) {
    let mut out = Vec::new();
    let count = store
        .reader()
        .export(filter, format, &mut out)
        .expect("export");
    (count, String::from_utf8(out).expect("UTF-8"))
}

fn store_with_a_block(data_dir: &DataDir) -> Store {
    let store = data_dir.open();
    fill(&store, 2500);
    let mut records = blocked(&store, "stub", "=cmd|' /C calc'!A0");
    records[1].reason = Some("@SUM(1), \"quoted\"".into());
    assert_eq!(
        store.commit_blocking((), records).evidence(),
        Evidence::Committed
    );
    store
}

#[test]
fn json_lines_carry_every_record_in_order() {
    let data_dir = DataDir::new();
    let store = store_with_a_block(&data_dir);
    let (count, text) = export(&store, &Filter::default(), ExportFormat::Jsonl);
    assert_eq!(count, 2503);
    let seqs: Vec<u64> = text
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).expect("JSON")["seq"]
                .as_u64()
                .expect("seq")
        })
        .collect();
    assert_eq!(seqs, (1..=2503).collect::<Vec<u64>>());
    let blocked = Filter {
        statuses: vec![Status::Blocked],
        ..Filter::default()
    };
    let (count, text) = export(&store, &blocked, ExportFormat::Jsonl);
    assert_eq!((count, text.lines().count()), (1, 1));
}

#[test]
fn csv_carries_decision_and_reason_and_runs_no_formula() {
    let data_dir = DataDir::new();
    let store = store_with_a_block(&data_dir);
    let (_, text) = export(
        &store,
        &Filter {
            statuses: vec![Status::Blocked],
            ..Filter::default()
        },
        ExportFormat::Csv,
    );
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0]
            .starts_with("id,timestamp,type,status,server,tool,decision,reason,mode,stages,rules,")
    );
    let expected = ",policy_decision,blocked,stub,\"'=cmd|' /C calc'!A0\",blocked,\"'@SUM(1), \"\"quoted\"\"\",strict,contract,schema.type,";
    assert!(lines[1].contains(expected), "{}", lines[1]);
}

#[test]
fn sarif_has_one_result_per_finding() {
    let data_dir = DataDir::new();
    let store = store_with_a_block(&data_dir);
    let (_, text) = export(&store, &Filter::default(), ExportFormat::Sarif);
    let log: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let ids: Vec<&Value> = rules(run).iter().map(|rule| &rule["id"]).collect();
    assert_eq!(ids, ["schema.type"]);
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 1);
    assert_eq!(
        (&results[0]["ruleId"], &results[0]["level"]),
        (&"schema.type".into(), &"warning".into())
    );
    assert_eq!(
        results[0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
        "stub:=cmd|' /C calc'!A0"
    );
    assert_eq!(results[0]["properties"]["instance_pointer"], "/id");
    let (_, empty) = export(
        &store,
        &Filter {
            servers: vec!["nobody".into()],
            ..Filter::default()
        },
        ExportFormat::Sarif,
    );
    assert_eq!(
        serde_json::from_str::<Value>(&empty).expect("JSON")["runs"][0]["results"],
        serde_json::json!([])
    );
}

fn rules(run: &Value) -> &[Value] {
    let rules = run["tool"]["driver"]["rules"].as_array();
    rules.expect("rules")
}

#[test]
fn every_sarif_rule_says_what_it_is_about() {
    let data_dir = DataDir::new();
    let store = store_with_a_block(&data_dir);
    let mut records = blocked(&store, "stub", "t");
    let names = ["token.chatml", "classifier.hook", "of.a.later.version"];
    let first = records[1].findings[0].clone();
    records[1].findings = names
        .map(|name| {
            let mut finding = first.clone();
            finding.rule = name.into();
            finding
        })
        .into();
    let committed = store.commit_blocking((), records);
    assert_eq!(committed.evidence(), Evidence::Committed);
    let (_, text) = export(&store, &Filter::default(), ExportFormat::Sarif);
    let log: Value = serde_json::from_str(&text).expect("JSON");
    let run = &log["runs"][0];
    let home_page = run["tool"]["driver"]["informationUri"].as_str();
    assert!(home_page.is_some_and(|uri| uri.starts_with("https://")));
    assert_eq!(run["automationDetails"]["id"], "countersign/activity/");
    let rules = rules(run);
    assert_eq!(rules.len(), 4);
    for rule in rules {
        for text in ["shortDescription", "fullDescription", "help"] {
            let text = rule[text]["text"].as_str().unwrap_or_default();
            assert!(text.len() > 20, "{rule}");
        }
        let uri = rule["helpUri"].as_str().unwrap_or_default();
        assert!(uri.starts_with("https://"), "{rule}");
    }
    let token = rules.iter().find(|rule| rule["id"] == "token.chatml");
    assert_eq!(
        token.expect("the rule")["shortDescription"]["text"],
        "the text holds control tokens of a language model"
    );
}

#[test]
fn formats_are_a_closed_set() {
    let error = "xml"
        .parse::<ExportFormat>()
        .expect_err("unknown")
        .to_string();
    assert_eq!(error, "unknown format `xml`; allowed: jsonl, csv, sarif");
    assert_eq!(
        "csv".parse().map(ExportFormat::media_type),
        Ok("text/csv; charset=utf-8")
    );
}

#[test]
fn planted_secrets_are_on_no_surface() {
    const SECRET: &str = "hunter2-planted-secret";
    let arguments = format!(
        r#"{{"name":"login","arguments":{{"password":"{SECRET}","note":"Authorization: Bearer {SECRET}"}}}}"#
    );
    for (payloads, kept) in [(Payloads::None, false), (Payloads::Redacted, true)] {
        let data_dir = DataDir::new();
        let store = data_dir.open();
        let policy = PayloadPolicy::new(payloads, 65_536, Redactor::new([SECRET.to_owned()]));
        let mut record = call(&store, "files", "login");
        record.request = policy.capture(arguments.as_bytes(), true);
        record.response = policy.capture(format!("token={SECRET} {SECRET}").as_bytes(), true);
        assert_eq!(record.request.is_some(), kept);
        assert_eq!(
            store.commit_blocking((), [record]).evidence(),
            Evidence::Committed
        );
        for format in [ExportFormat::Jsonl, ExportFormat::Csv, ExportFormat::Sarif] {
            assert!(
                !export(&store, &Filter::default(), format)
                    .1
                    .contains("hunter2")
            );
        }
        let page = serde_json::to_string(&store.reader().list(&Query::default()).expect("list"))
            .expect("JSON");
        assert!(!page.contains("hunter2") && page.contains("[redacted]") == kept);
        drop(store);
        for entry in std::fs::read_dir(data_dir.path()).expect("dir") {
            let bytes = std::fs::read(entry.expect("entry").path()).expect("read");
            assert!(!bytes.windows(7).any(|window| window == b"hunter2"));
        }
    }
}
