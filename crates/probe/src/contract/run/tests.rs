use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::policy::{SchemaPolicy, Validation};

fn target(preset: &str) -> Target {
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    let args = ["stdio", "--preset", preset].map(str::to_owned);
    Target::command(fixture.to_string_lossy().into_owned(), args)
}

fn strict() -> Settings {
    let validation = Validation {
        strict: true,
        ..Validation::default()
    };
    Settings {
        validation,
        timeout: Duration::from_secs(3),
        patience: Duration::from_secs(3),
        ..Settings::default()
    }
}

async fn ran(preset: &str, settings: &Settings) -> Run {
    run(&target(preset), settings, &mut |_| {})
        .await
        .expect("it runs")
}

/// What was found and would be shown.
fn shown(run: &Run) -> BTreeSet<(&str, &str)> {
    let matters = run
        .findings
        .iter()
        .filter(|record| record.policy != SchemaPolicy::Ignore);
    matters
        .map(|record| (record.tool.as_str(), record.rule.as_str()))
        .collect()
}

/// Every planted bug, with the rule it breaks.
const PLANTED: [(&str, &str); 12] = [
    ("answers_malformed", "CALL-MALFORMED"),
    ("changes_its_mind", "CALL-REPEAT-DIFFERS"),
    ("ends_on_zero", "CALL-CRASH"),
    ("fails_on_empty", "CALL-VALID-REFUSED"),
    ("hangs_on_slow", "CALL-HANG"),
    ("returns_extra", "RESULT-EXTRA-PROPERTIES"),
    ("returns_no_structure", "RESULT-STRUCTURED-MISSING"),
    ("returns_wrong_type", "RESULT-SCHEMA-MISMATCH"),
    ("shows_its_inside", "ARGS-REFUSAL-LEAKS"),
    ("takes_missing", "ARGS-INVALID-ACCEPTED"),
    ("takes_one_too_many", "ARGS-INVALID-ACCEPTED"),
    ("takes_undeclared", "ARGS-INVALID-ACCEPTED"),
];

#[tokio::test]
async fn twelve_planted_bugs_are_found_and_nothing_else() {
    let run = ran("contract-bugs", &strict()).await;
    assert_eq!(shown(&run), PLANTED.into(), "{:#?}", run.findings);
    assert_eq!(
        run.count(SchemaPolicy::Fail) + run.count(SchemaPolicy::Warn),
        12
    );
    assert_eq!(run.tester_bugs, Vec::<String>::new());
    let smallest = |tool: &str| {
        let record = run.findings.iter().find(|record| record.tool == tool);
        record
            .and_then(|record| record.arguments.clone())
            .map(|arguments| arguments.to_string())
    };
    for (tool, arguments) in [
        ("returns_extra", r#"{"verbose":true}"#),
        ("fails_on_empty", r#"{"text":""}"#),
        ("ends_on_zero", r#"{"n":0}"#),
        ("hangs_on_slow", r#"{"mode":"slow"}"#),
        ("answers_malformed", r#"{"items":["","",""]}"#),
        ("takes_one_too_many", r#"{"n":11}"#),
        ("takes_missing", "{}"),
    ] {
        assert_eq!(smallest(tool).as_deref(), Some(arguments), "{tool}");
    }
}

#[tokio::test]
async fn a_server_that_keeps_its_word_has_no_findings() {
    let run = ran("contract-clean", &strict()).await;
    assert_eq!(shown(&run), BTreeSet::new(), "{:#?}", run.findings);
    assert!(
        run.tools
            .iter()
            .all(|tool| tool.cases["coverage"] > 1 && tool.notes.is_empty()),
        "{:#?}",
        run.tools
    );
    assert!(
        run.tools
            .iter()
            .any(|tool| tool.cases.contains_key("stateful")),
        "ids were learnt and used"
    );
}

#[tokio::test]
async fn lenient_gates_on_nothing_but_a_server_that_breaks() {
    let settings = Settings {
        timeout: Duration::from_secs(3),
        patience: Duration::from_secs(3),
        ..Settings::default()
    };
    let run = ran("contract-bugs", &settings).await;
    let gating = run
        .findings
        .iter()
        .filter(|record| record.policy == SchemaPolicy::Fail);
    let gating: BTreeSet<&str> = gating.map(|record| record.rule.as_str()).collect();
    assert_eq!(gating, ["CALL-CRASH", "CALL-HANG", "CALL-MALFORMED"].into());
}

#[tokio::test]
async fn one_case_is_run_alone() {
    let mut settings = strict();
    settings.only = vec!["returns_extra".to_owned()];
    settings.case = Some(serde_json::json!({"verbose": true}));
    let run = ran("contract-bugs", &settings).await;
    assert_eq!(
        shown(&run),
        [("returns_extra", "RESULT-EXTRA-PROPERTIES")].into()
    );
    settings.case = Some(serde_json::json!({"verbose": false}));
    assert_eq!(
        shown(&ran("contract-bugs", &settings).await),
        BTreeSet::new()
    );
}

#[tokio::test]
async fn what_may_destroy_is_not_called() {
    use countersign_fixture::{Script, Tool};
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script.json");
    let silent =
        Tool::new(r#"{"name":"wipe","inputSchema":{"type":"object"}}"#).result(r#"{"content":[]}"#);
    std::fs::write(&path, Script::new("wiper").tool(silent).to_json()).expect("a file");
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    let target = Target::command(
        fixture.to_string_lossy().into_owned(),
        [
            "stdio".to_owned(),
            "--script".to_owned(),
            path.to_string_lossy().into_owned(),
        ],
    );
    let refused = run(&target, &strict(), &mut |_| {}).await.expect("it runs");
    assert!(refused.is_refused());
    assert_eq!(
        refused.calls, 1,
        "only the tool that does not exist was called"
    );
    let allowed = Settings {
        allow: vec!["wi*".to_owned()],
        ..strict()
    };
    let allowed = run(&target, &allowed, &mut |_| {}).await.expect("it runs");
    assert!(!allowed.is_refused() && allowed.calls > 1);
}

#[tokio::test]
async fn overrides_are_heard() {
    let mut settings = strict();
    settings.only = vec!["returns_*".to_owned()];
    settings.validation.overrides = vec![
        serde_json::from_str(r#"{"tool":"returns_*","site":["missing","result"],"policy":"warn","until":"2999-12-31","reason":"known"}"#).expect("an override"),
        serde_json::from_str(r#"{"tool":"no_such","site":["result"],"policy":"warn","until":"2999-12-31","reason":"typo"}"#).expect("an override"),
    ];
    let run = ran("contract-bugs", &settings).await;
    assert_eq!(
        (run.count(SchemaPolicy::Fail), run.count(SchemaPolicy::Warn)),
        (0, 3)
    );
    assert_eq!(run.unmatched_overrides, ["no_such"]);
}

#[tokio::test]
async fn over_http_the_answers_are_the_same() {
    use countersign_fixture::{http, preset};
    let server = http::Server::start(preset::contract_clean(), http::Format::Json)
        .await
        .expect("it starts");
    let target = Target::url(&server.url()).expect("an address");
    let run = run(&target, &strict(), &mut |_| {}).await.expect("it runs");
    assert_eq!(shown(&run), BTreeSet::new(), "{:#?}", run.findings);
    assert_eq!((run.transport.as_str(), run.restarts), ("http", 0));
}

#[tokio::test]
async fn values_that_exist_are_used() {
    let mut settings = strict();
    settings.only = vec!["ends_on_zero".to_owned()];
    settings.values = vec![("n".to_owned(), serde_json::json!(5))];
    let run = ran("contract-bugs", &settings).await;
    assert_eq!(
        shown(&run),
        BTreeSet::new(),
        "n is never 0: {:#?}",
        run.findings
    );
    assert!(run.tools[0].rejected > 0, "mistakes are still made");
}

#[tokio::test]
async fn a_case_that_is_not_what_it_claims_is_our_bug_and_is_not_sent() {
    let (settings, target) = (strict(), target("contract-bugs"));
    let (mut runner, _) = Runner::start(&target, &settings).await.expect("it starts");
    let index = |subject: &TestedTool| subject.run.name == "takes_missing";
    let index = runner.subjects.iter().position(index).expect("it is there");
    let mislabelled = Case::valid("says it is valid", serde_json::json!({}));
    runner
        .run_cases(index, Pass::Coverage, vec![mislabelled])
        .await
        .expect("it runs");
    let run = runner.finish().await;
    assert_eq!(run.tester_bugs, ["takes_missing: says it is valid"]);
    // The server would have taken it, and is not blamed.
    assert_eq!(shown(&run), BTreeSet::new());
}

/// A tool that answers after a while, and prints to stdout what belongs to stderr.
const SLOW_AND_NOISY: &str = r#"{"name":"slow","tools":[{"tool":{"name":"waits","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},"steps":[{"line":"Listening on 3000"},{"delay_ms":200},{"answer":{"result":{"content":[{"type":"text","text":"done"}]}}}]}]}"#;

#[tokio::test]
async fn a_slow_tool_is_not_taken_for_a_dead_one_and_noise_on_stdout_is_noticed() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), SLOW_AND_NOISY).expect("the script is written");
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    let script = file.path().to_string_lossy().into_owned();
    let args = ["stdio".to_owned(), "--script".to_owned(), script];
    let target = Target::command(fixture.to_string_lossy().into_owned(), args);
    let settings = Settings {
        timeout: Duration::from_millis(20),
        patience: Duration::from_mins(1),
        ..strict()
    };
    let run = run(&target, &settings, &mut |_| {}).await.expect("it runs");
    let found = shown(&run);
    assert!(found.contains(&("waits", "CALL-SLOW")), "{found:?}");
    assert!(found.contains(&("", "STDOUT-NOISE")), "{found:?}");
    assert!(!found.contains(&("waits", "CALL-HANG")), "{found:?}");
    assert_eq!(run.restarts, 0, "a slow server is not started again");
    assert!(run.tools[0].succeeded > 0);
}
