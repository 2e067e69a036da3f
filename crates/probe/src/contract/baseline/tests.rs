use super::super::record::VERSION as RECORD_VERSION;
use super::super::run::ToolRun;
use super::*;

fn record(fingerprint: &str, pass: Pass) -> Record {
    Record {
        version: RECORD_VERSION,
        fingerprint: fingerprint.to_owned(),
        rule: Site::Result.rule().to_owned(),
        site: "result".to_owned(),
        policy: SchemaPolicy::Fail,
        why: PolicySource::Mode,
        tool: "t".to_owned(),
        protocol: "2025-11-25".to_owned(),
        transport: "stdio".to_owned(),
        schema_digest: "d1".to_owned(),
        keyword_location: Some("/type".to_owned()),
        instance_pointer: Some("/items/*/id".to_owned()),
        expected: Some("integer".to_owned()),
        actual: Some("string".to_owned()),
        detail: None,
        pass,
        case: "minimal".to_owned(),
        count: 1,
        first_ms: 1,
        last_ms: 1,
        request_id: None,
        arguments: Some(serde_json::json!({"secret": "value"})),
        reproducer: Some("countersign contract run".to_owned()),
    }
}

fn run(findings: Vec<Record>) -> Run {
    let tool = |name: &str, cases| ToolRun {
        name: name.to_owned(),
        cases: [("coverage".to_owned(), cases)].into(),
        ..ToolRun::default()
    };
    Run {
        server: "s".to_owned(),
        tools: vec![tool("t", 5), tool("idle", 0)],
        findings,
        ..Run::default()
    }
}

fn baseline(entries: &[(&str, Pass)]) -> Baseline {
    Baseline::from_run(
        &run(entries
            .iter()
            .map(|(print, pass)| record(print, *pass))
            .collect()),
        None,
    )
}

#[test]
fn what_is_known_does_not_gate_and_what_is_new_does() {
    let mut run = run(vec![
        record("a", Pass::Coverage),
        record("b", Pass::Coverage),
    ]);
    let comparison = baseline(&[("a", Pass::Coverage)]).apply(&mut run);
    assert_eq!((comparison.known, comparison.stale.len()), (1, 0));
    assert_eq!(run.findings[0].policy, SchemaPolicy::Ignore);
    assert_eq!(run.findings[0].why, PolicySource::Baseline);
    assert_eq!(run.findings[1].policy, SchemaPolicy::Fail);
}

#[test]
fn what_is_gone_is_stale_if_it_was_asked_for() {
    let known = baseline(&[("a", Pass::Coverage), ("b", Pass::Random)]);
    let comparison = known.apply(&mut run(vec![]));
    assert_eq!(comparison.stale.len(), 1);
    assert_eq!(comparison.stale[0].fingerprint, "a");
    assert_eq!(
        comparison.unproven[0].fingerprint, "b",
        "random silence proves nothing"
    );
    let mut unreached = run(vec![]);
    unreached.tools.clear();
    assert_eq!(known.apply(&mut unreached), Comparison::default());
}

#[test]
fn another_schema_opens_an_entry_again() {
    let known = baseline(&[("a", Pass::Coverage)]);
    let mut changed = run(vec![record("a", Pass::Coverage)]);
    changed.findings[0].schema_digest = "d2".to_owned();
    let comparison = known.apply(&mut changed);
    assert_eq!((comparison.known, comparison.reopened), (0, 1));
    assert_eq!(changed.findings[0].policy, SchemaPolicy::Fail);
}

#[test]
fn a_tripped_guard_is_never_hidden() {
    let mut guard = record("g", Pass::Declaration);
    guard.rule = Site::Guard.rule().to_owned();
    assert!(
        Baseline::from_run(&run(vec![guard.clone()]), None)
            .entries
            .is_empty()
    );
    let mut forged = baseline(&[("g", Pass::Declaration)]);
    forged.entries[0].rule.clone_from(&guard.rule);
    let mut run = run(vec![guard]);
    assert_eq!(forged.apply(&mut run).known, 0);
    assert_eq!(run.findings[0].policy, SchemaPolicy::Fail);
}

#[test]
fn the_file_holds_places_and_no_values() {
    let text = baseline(&[("a", Pass::Coverage)]).to_text();
    assert!(
        !text.contains("secret")
            && !text.contains("value")
            && !text.contains("countersign contract")
    );
    assert_eq!(
        Baseline::read(text.as_bytes()),
        Ok(baseline(&[("a", Pass::Coverage)]))
    );
    assert!(Baseline::read(text.replace("\"version\": 1", "\"version\": 9").as_bytes()).is_err());
    assert!(Baseline::read(b"{}").is_err());
}

#[test]
fn an_update_keeps_what_was_not_asked_about() {
    let mut idle = record("i", Pass::Coverage);
    idle.tool = "idle".to_owned();
    let older = Baseline::from_run(&run(vec![idle, record("gone", Pass::Coverage)]), None);
    let updated = Baseline::from_run(&run(vec![record("new", Pass::Coverage)]), Some(&older));
    let prints: Vec<&str> = updated
        .entries
        .iter()
        .map(|entry| entry.fingerprint.as_str())
        .collect();
    assert_eq!(prints, ["i", "new"]);
}
