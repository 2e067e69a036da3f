//! Load: what is sent, what it comes to under each strictness, and whose time is measured.

use std::collections::BTreeMap;

use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Entry, Log, Script, Step, Tool, preset};
use countersign_probe::load::LoadError;
use countersign_probe::policy::SchemaPolicy;
use countersign_probe::report::{Run, RunEnd};

use crate::support::{http, logged, plan, run, run_until, stdio};

const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"},"at":{"type":"string","format":"date-time"}},"required":["n"],"additionalProperties":false}"#;

/// A server whose tools break their contract in one way each, or not at all.
fn faulty() -> Script {
    let tool = |name: &str, structured: &str| {
        let text = serde_json::Value::from(structured);
        Tool::with_output_schema(name, SCHEMA).result(format!(
            r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structured}}}"#
        ))
    };
    Script::new("faulty")
        .tool(tool("good", r#"{"n":1}"#))
        .tool(tool("mismatch", r#"{"n":"1"}"#))
        .tool(tool("extra", r#"{"n":1,"m":2}"#))
        .tool(tool("dates", r#"{"n":1,"at":"yesterday"}"#))
        .tool(
            Tool::with_output_schema("missing", SCHEMA)
                .result(r#"{"content":[{"type":"text","text":"1"}]}"#),
        )
        .tool(Tool::with_output_schema("failing", SCHEMA).result(
            r#"{"content":[{"type":"text","text":"no"}],"structuredContent":{"x":[]},"isError":true}"#,
        ))
}

const CALLS: &str = r#"
[load]
rate = 200
duration = "300ms"
[[scenario]]
tool = "good"
[[scenario]]
tool = "mismatch"
[[scenario]]
tool = "extra"
[[scenario]]
tool = "dates"
[[scenario]]
tool = "missing"
[[scenario]]
tool = "failing"
"#;

/// A run of the faulty server, and everything it was sent.
async fn faulty_run(validation: &str) -> (Run, Vec<Vec<u8>>) {
    let (log, mut entries) = Log::channel();
    let running = logged(faulty(), Format::Json, log).await;
    let plan = plan(&running, &format!("{validation}{CALLS}"));
    let run = run(&plan).await.expect("a run");
    let mut sent: Vec<Vec<u8>> = Vec::new();
    while let Ok(entry) = entries.try_recv() {
        if let Entry::Message { head, body } = entry {
            let head = String::from_utf8_lossy(&head).into_owned();
            // Which port it came to is no part of what was said.
            let lines = head
                .lines()
                .filter(|line| !line.to_lowercase().starts_with("host:"));
            let head: Vec<&str> = lines.collect();
            sent.push([head.join("\n").as_bytes(), b"\n", &body].concat());
        }
    }
    sent.sort();
    (run, sent)
}

/// Whether the contract gates the run. A busy machine may add that the generator was late.
fn is_gated(run: &Run) -> bool {
    let gated = run
        .verdict
        .reasons
        .iter()
        .any(|why| why.contains("violations of the contract"));
    assert!(!gated || run.verdict.exit == 1, "{:?}", run.verdict);
    gated
}

fn outcomes(run: &Run) -> BTreeMap<&str, Vec<&str>> {
    let tools = run.tools.iter();
    tools
        .map(|tool| {
            let outcomes = tool.outcomes.keys().map(String::as_str).collect();
            (tool.tool.as_str(), outcomes)
        })
        .collect()
}

#[tokio::test]
async fn lenient_changes_nothing_and_strict_gates_at_the_right_site() {
    let (absent, absent_sent) = faulty_run("").await;
    let (lenient, lenient_sent) = faulty_run("[validation]\nstrict = false\n").await;
    let (strict, strict_sent) = faulty_run("[validation]\nstrict = true\n").await;

    assert_eq!(absent.counters.started, 60);
    assert_eq!(absent_sent.len(), 60 + 3, "greeting, list, list again");
    assert_eq!(absent_sent, lenient_sent);
    assert_eq!(absent_sent, strict_sent);
    assert_eq!(outcomes(&absent), outcomes(&lenient));
    assert_eq!(absent.policies, lenient.policies);
    for run in [&absent, &lenient] {
        let expected: Vec<(&str, Vec<&str>)> = vec![
            ("dates", vec!["ok"]),
            ("extra", vec!["ok"]),
            ("failing", vec!["tool_error"]),
            ("good", vec!["ok"]),
            ("mismatch", vec!["ok"]),
            ("missing", vec!["ok"]),
        ];
        assert_eq!(outcomes(run).into_iter().collect::<Vec<_>>(), expected);
        assert!(!is_gated(run), "{:?}", run.verdict);
        assert_eq!(run.policies.fail, 0);
        assert!(run.policies.warn > 0 && run.policies.ignore > 0);
    }
    let expected: Vec<(&str, Vec<&str>)> = vec![
        ("dates", vec!["ok"]),
        ("extra", vec!["protocol_error/schema_violation extra"]),
        ("failing", vec!["tool_error"]),
        ("good", vec!["ok"]),
        ("mismatch", vec!["protocol_error/schema_violation result"]),
        ("missing", vec!["protocol_error/schema_violation missing"]),
    ];
    assert_eq!(outcomes(&strict).into_iter().collect::<Vec<_>>(), expected);
    assert!(is_gated(&strict));
    assert_eq!(strict.all.figures.response.count, 60, "the times are kept");
    let failed: Vec<(&str, &str)> = strict
        .violations
        .iter()
        .filter(|one| one.policy == SchemaPolicy::Fail)
        .map(|one| (one.tool.as_str(), one.site.as_str()))
        .collect();
    for expected in [
        ("mismatch", "result"),
        ("extra", "extra"),
        ("missing", "missing"),
    ] {
        assert!(failed.contains(&expected), "{failed:?}");
    }
    assert_eq!(failed.len(), 3, "isError and formats gate nothing");
}

#[tokio::test]
async fn an_override_holds_until_its_day_and_a_misspelt_one_is_noted() {
    let with = |until: &str, tool: &str| {
        format!(
            "[validation]\nstrict = true\n[[validation.override]]\ntool = \"{tool}\"\nsite = [\"result\", \"missing\", \"extra\"]\npolicy = \"warn\"\nuntil = {until}\nreason = \"known\"\n"
        )
    };
    let (held, _) = faulty_run(&with("2026-11-16", "*")).await;
    assert!(!is_gated(&held), "{:?}", held.verdict);
    let (expired, _) = faulty_run(&with("2026-11-15", "*")).await;
    assert!(is_gated(&expired));
    let (misspelt, _) = faulty_run(&with("2026-11-16", "mismacth")).await;
    assert!(is_gated(&misspelt));
    assert!(misspelt.notes.iter().any(|note| note.contains("mismacth")));
}

#[tokio::test]
async fn the_plans_own_arguments_are_checked_before_anything_is_called() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object","required":["q"]}}"#;
    let calls = "[load]\nrate = 20\nduration = \"200ms\"\n[[scenario]]\ntool = \"t\"\narguments = { p = 1 }\n";
    let running = http(Script::new("s").tool(Tool::new(tool)), Format::Json).await;
    let strict = run(&plan(
        &running,
        &format!("[validation]\nstrict = true\n{calls}"),
    ))
    .await;
    assert!(matches!(strict, Err(LoadError::Authored(_))), "{strict:?}");
    let lenient = run(&plan(&running, calls)).await.expect("a run");
    assert_eq!(lenient.all.outcome("ok"), 4, "sent all the same");
    assert!(lenient.violations.iter().any(|one| one.site == "args"));
    let unlisted = calls.replace("\"t\"", "\"u\"");
    let unlisted = run(&plan(&running, &unlisted)).await.expect("a run");
    assert!(
        unlisted
            .violations
            .iter()
            .any(|one| one.rule == "LIST-UNKNOWN-TOOL")
    );
}

#[tokio::test]
async fn a_stall_shows_in_response_times_and_not_in_service_times() {
    let quick = || vec![Step::Answer(Answer::default())];
    let mut tool = Tool::named("t");
    for _ in 0..20 {
        tool = tool.steps(quick());
    }
    tool = tool.steps(vec![Step::DelayMs(1000), Step::Answer(Answer::default())]);
    let script = Script::new("s").tool(tool.steps(quick()));
    let running = http(script, Format::Json).await;
    let load =
        "[load]\nrate = 100\nduration = \"2s\"\nconcurrency = 1\n[[scenario]]\ntool = \"t\"\n";
    let run = run(&plan(&running, load)).await.expect("a run");
    let (response, service) = (&run.all.figures.response, &run.all.figures.service);
    assert_eq!(response.count, 200);
    assert!(service.max_ms >= 1000.0, "the stall itself was measured");
    assert!(
        response.p90_ms > 500.0,
        "calls that were due during the stall waited: {response:?}"
    );
    assert!(service.p90_ms < response.p90_ms / 2.0, "{service:?}");
    assert_eq!(run.counters.dropped, 0);
}

#[tokio::test]
async fn offered_load_that_is_not_met_is_no_result() {
    let running = http(preset::faults(), Format::Json).await;
    let load = "[load]\nrate = 5000\nduration = \"500ms\"\nmax_in_flight = 2\ntimeout = \"100ms\"\ndrain = \"10ms\"\n[[scenario]]\ntool = \"never\"\n";
    let run = run(&plan(&running, load)).await.expect("a run");
    assert_eq!(run.counters.offered, 2500);
    assert_eq!(
        run.counters.offered,
        run.counters.started + run.counters.dropped
    );
    assert!(run.saturated.is_some());
    assert_eq!(run.verdict.exit, 4, "{:?}", run.verdict);
}

#[tokio::test]
async fn what_is_under_way_at_the_end_is_abandoned() {
    let running = http(preset::faults(), Format::Json).await;
    let load = "[load]\nrate = 20\nduration = \"250ms\"\ndrain = \"10ms\"\n[[scenario]]\ntool = \"never\"\n";
    let run = run(&plan(&running, load)).await.expect("a run");
    assert_eq!((run.counters.started, run.counters.abandoned), (5, 5));
    assert_eq!(run.all.calls, 0);
}

#[tokio::test]
async fn values_travel_from_feeders_and_results_into_arguments() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("who.csv"), "name\nAnn\nBob\n").expect("a file");
    let (log, mut entries) = Log::channel();
    let running = logged(preset::faults(), Format::Json, log).await;
    let text = format!(
        "{}\n[load]\nrate = 20\nduration = \"200ms\"\n[[scenario]]\nfeeder = {{ file = \"who.csv\" }}\n[[scenario.call]]\ntool = \"echo\"\narguments_json = '{{\"who\": \"${{feed:name}}\", \"n\": 1.0}}'\ntake = {{ n = \"/structuredContent/n\", who = \"/structuredContent/who\" }}\n[[scenario.call]]\ntool = \"echo\"\narguments = {{ again = \"${{take:n}}\", hello = \"hi ${{take:who}}\" }}\n",
        running.server
    );
    let plan = countersign_probe::plan::Plan::parse(&text, folder.path(), &|_| None);
    let run = run(&plan.expect("a plan")).await.expect("a run");
    assert_eq!((run.counters.started, run.all.outcome("ok")), (4, 8));
    let mut sent = Vec::new();
    while let Ok(entry) = entries.try_recv() {
        sent.push(String::from_utf8_lossy(entry.body()).into_owned());
    }
    for wanted in [
        r#""arguments":{"who": "Ann", "n": 1.0}"#,
        r#""arguments":{"who": "Bob", "n": 1.0}"#,
        r#""arguments":{"again":1.0,"hello":"hi Ann"}"#,
        r#""arguments":{"again":1.0,"hello":"hi Bob"}"#,
    ] {
        let found = sent.iter().filter(|body| body.contains(wanted)).count();
        assert_eq!(found, 2, "{wanted} in {sent:?}");
    }
}

#[tokio::test]
async fn users_have_sessions_or_processes_of_their_own() {
    let vus = |stdio: &str| {
        format!(
            "[load]\nexecutor = \"vus\"\nvus = 3\nduration = \"300ms\"\nthink_time = \"20ms\"\n{stdio}\n[[scenario]]\ntool = \"echo\"\n"
        )
    };
    let legacy = preset::faults().eras(countersign_fixture::Eras::Legacy);
    let child = stdio(&preset::faults());
    for (running, stdio, sessions) in [
        (&http(legacy, Format::Sse).await, "", 3),
        (&http(preset::faults(), Format::Json).await, "", 1),
        (&child, "", 1),
        (&child, "stdio = \"processes\"", 3),
    ] {
        let run = run(&plan(running, &vus(stdio))).await.expect("a run");
        assert_eq!(run.setup.sessions, sessions, "{stdio}");
        assert!(run.counters.completed >= 3);
        assert_eq!(run.all.outcome("ok"), run.counters.completed);
        assert!(!is_gated(&run));
    }
}

#[tokio::test]
async fn thresholds_gate_and_some_end_the_run() {
    let running = http(preset::faults(), Format::Json).await;
    let load = "[load]\nrate = 50\nduration = \"WHEN\"\n[[scenario]]\ntool = \"error\"\n[thresholds]\nok_rate = { limit = \"> 0.5\", abort_on_fail = ABORT }\n\"tools/call{tool=error}.response.p99\" = \"< 10m\"\n\"tools/call{tool=other}.response.p99\" = \"< 10m\"\n";
    let short = load.replace("WHEN", "200ms").replace("ABORT", "false");
    let failed = run(&plan(&running, &short)).await.expect("a run");
    let holds: Vec<(&str, bool)> = failed
        .thresholds
        .iter()
        .map(|one| (one.measured.as_str(), one.holds))
        .collect();
    assert_eq!(holds[0], ("0", false));
    assert!(holds[1].1, "{holds:?}");
    assert_eq!(holds[2], ("no data", false));
    assert_eq!(failed.ended, RunEnd::Finished);
    assert_ne!(failed.verdict.exit, 0);
    assert!(
        failed
            .verdict
            .reasons
            .iter()
            .any(|why| why.starts_with("ok_rate is 0"))
    );
    let long = load.replace("WHEN", "10m").replace("ABORT", "true");
    let aborted = run(&plan(&running, &long)).await.expect("a run");
    assert_eq!(aborted.ended, RunEnd::Aborted);
    assert_ne!(aborted.verdict.exit, 0);
}

#[tokio::test]
async fn a_run_that_is_stopped_reports_what_ran() {
    let running = http(preset::faults(), Format::Json).await;
    let plan = plan(
        &running,
        "[load]\nrate = 100\nduration = \"10m\"\nwarm_up = \"100ms\"\n[[scenario]]\ntool = \"ok\"\n",
    );
    let mut stop = std::pin::pin!(tokio::time::sleep(std::time::Duration::from_millis(500)));
    let run = run_until(&plan, stop.as_mut()).await.expect("a run");
    assert_eq!(run.ended, RunEnd::Interrupted);
    assert!(run.counters.completed > 0 && run.counters.warm_up > 0);
    assert_eq!(run.counters.completed, run.all.outcome("ok"));
    let json = serde_json::to_string(&run).expect("JSON");
    assert_eq!(serde_json::from_str::<Run>(&json).expect("the same"), run);
}

/// Why a run is no pass, beside a generator that a busy machine made late.
fn reasons<'a>(run: &'a Run, start: &str) -> Vec<&'a str> {
    let reasons = run.verdict.reasons.iter().map(String::as_str);
    reasons.filter(|why| why.starts_with(start)).collect()
}

#[tokio::test]
async fn a_run_in_which_the_gateway_blocked_everything_is_no_pass() {
    let blocked = r#"{"content":[{"type":"text","text":"output schema validation failed: type at /n: expected integer, got string (tool s:t)"}],"isError":true}"#;
    let script = Script::new("gateway").tool(Tool::named("t").result(blocked));
    let running = http(script, Format::Json).await;
    let calls = "[load]\nrate = 20\nduration = \"200ms\"\n[[scenario]]\ntool = \"t\"\n";
    let ran = run(&plan(&running, calls)).await.expect("a run");
    assert_eq!(ran.all.outcome("denied"), 4, "{:?}", ran.all.outcomes);
    let why = "no call of \"t\" came to what was expected: 4 denied";
    assert_eq!(reasons(&ran, "no call"), [why], "{:?}", ran.verdict);
    assert_ne!(ran.verdict.exit, 0);
    let expected = calls.to_owned() + "expect = \"deny\"\n";
    let ran = run(&plan(&running, &expected)).await.expect("a run");
    assert!(reasons(&ran, "no call").is_empty(), "{:?}", ran.verdict);
}

#[tokio::test]
async fn a_mistyped_tool_is_no_pass_and_the_right_name_is_suggested() {
    let running = http(preset::faults(), Format::Json).await;
    let calls = "[load]\nrate = 20\nduration = \"400ms\"\n[[scenario]]\n[[scenario.call]]\ntool = \"ok\"\n[[scenario.call]]\ntool = \"ecko\"\n";
    let ran = run(&plan(&running, calls)).await.expect("a run");
    let why = reasons(&ran, "no call");
    assert_eq!(why.len(), 1, "{why:?}");
    assert!(
        why[0].contains("\"ecko\"") && why[0].contains("rpc -32602"),
        "{why:?}"
    );
    assert_ne!(ran.verdict.exit, 0);
    let note = "the server lists no tool \"ecko\"; did you mean \"echo\"?";
    assert!(ran.notes.iter().any(|one| one == note), "{:?}", ran.notes);
}

#[tokio::test]
async fn arguments_from_a_template_are_judged_before_a_strict_run_sends_them() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("n.jsonl"), "{\"n\":1}\n{\"n\":\"x\"}\n").expect("a file");
    let tool =
        r#"{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}"#;
    let (log, mut entries) = Log::channel();
    let running = logged(Script::new("s").tool(Tool::new(tool)), Format::Json, log).await;
    let mut sent = async |validation: &str| {
        let text = format!(
            "{}\n{validation}[load]\nrate = 20\nduration = \"200ms\"\n[[scenario]]\nfeeder = {{ file = \"n.jsonl\" }}\ntool = \"t\"\narguments = {{ n = \"${{feed:n}}\" }}\n",
            running.server
        );
        let plan = countersign_probe::plan::Plan::parse(&text, folder.path(), &|_| None);
        let run = run(&plan.expect("a plan")).await.expect("a run");
        let mut wrong = 0;
        while let Ok(entry) = entries.try_recv() {
            let body = String::from_utf8_lossy(entry.body()).into_owned();
            wrong += usize::from(body.contains(r#""n":"x""#));
        }
        (run, wrong)
    };
    let (strict, wrong) = sent("[validation]\nstrict = true\n").await;
    assert_eq!((wrong, strict.counters.completed), (0, 2));
    assert!(is_gated(&strict), "{:?}", strict.verdict);
    assert_eq!(strict.policies.fail, 2);
    let note = "2 calls were not sent because their arguments do not fit the input schema";
    assert!(
        strict.notes.iter().any(|one| one == note),
        "{:?}",
        strict.notes
    );
    let (lenient, wrong) = sent("").await;
    assert_eq!(
        (wrong, lenient.counters.completed),
        (2, 4),
        "sent all the same"
    );
}
