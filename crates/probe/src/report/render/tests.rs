//! Every form shows what happened, and nothing in it is markup or steers a terminal.

use super::*;
use crate::policy::{PolicySource, SchemaPolicy};
use crate::report::{
    Counters, Figures, Histograms, PolicyCounts, RunEnd, RunPlan, Setup, TestedServer,
    ThresholdResult, TimelinePoint, ToolRun, VERSION, Verdict, ViolationRecord, count_time,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// A run with hostile text wherever a server can write text.
fn hostile() -> Run {
    let evil = "<script>alert(1)</script>\x1b[2J|`*";
    let mut histograms = Histograms::default();
    for number in 1..=100 {
        count_time(&mut histograms.response, Duration::from_millis(number));
        count_time(&mut histograms.service, Duration::from_micros(number * 500));
    }
    let all = ToolRun {
        tool: String::new(),
        calls: 100,
        unexpected: 3,
        outcomes: BTreeMap::from([("ok".to_owned(), 97), ("timeout".to_owned(), 3)]),
        figures: Figures::from(&histograms),
    };
    Run {
        version: VERSION,
        began_ms: 1,
        server: TestedServer {
            target: "http://127.0.0.1:1/mcp".to_owned(),
            name: evil.to_owned(),
            version: "1".to_owned(),
            transport: "http".to_owned(),
            era: "modern".to_owned(),
            protocol: "2026-07-28".to_owned(),
        },
        plan: RunPlan {
            executor: "open loop, 10 starts a second for 10s".to_owned(),
            duration_s: 10.0,
            warm_up_s: 0.0,
            seed: 7,
            strict: true,
            max_violations: 0,
        },
        setup: Setup::default(),
        ended: RunEnd::Finished,
        measured_s: 10.0,
        counters: Counters {
            offered: 100,
            started: 100,
            completed: 100,
            offered_rate: 10.0,
            achieved_rate: 10.0,
            ..Counters::default()
        },
        saturated: None,
        tools: vec![ToolRun {
            tool: evil.to_owned(),
            ..all.clone()
        }],
        all,
        timeline: timeline(),
        violations: vec![violation(evil)],
        policies: PolicyCounts {
            fail: 3,
            warn: 0,
            ignore: 1,
        },
        thresholds: vec![ThresholdResult {
            name: "tools/call.response.p99".to_owned(),
            bound: "< 50ms".to_owned(),
            measured: "99ms".to_owned(),
            holds: false,
        }],
        notes: vec![evil.to_owned()],
        verdict: Verdict {
            exit: 1,
            reasons: vec!["3 violations of the contract, 0 tolerated".to_owned()],
        },
    }
}

fn timeline() -> Vec<TimelinePoint> {
    vec![
        TimelinePoint {
            at_s: 0.0,
            done: 50,
            unexpected: 0,
            p50_ms: 10.0,
            p99_ms: 20.0,
            max_ms: 30.0,
        },
        TimelinePoint {
            at_s: 1.0,
            done: 50,
            unexpected: 3,
            p50_ms: 60.0,
            p99_ms: 90.0,
            max_ms: 100.0,
        },
    ]
}

fn violation(evil: &str) -> ViolationRecord {
    ViolationRecord {
        version: 1,
        fingerprint: "f".to_owned(),
        rule: "RESULT-SCHEMA-MISMATCH".to_owned(),
        site: "result".to_owned(),
        policy: SchemaPolicy::Fail,
        why: PolicySource::Mode,
        tool: evil.to_owned(),
        schema_digest: None,
        schema_pointer: None,
        instance_pointer: Some(format!("/{evil}")),
        expected: Some("integer".to_owned()),
        actual: Some("string".to_owned()),
        count: 3,
        first_ms: 1,
        last_ms: 2,
        repro: None,
    }
}

#[test]
fn no_form_lets_a_server_write_markup_or_steer_a_terminal() {
    let run = hostile();
    for format in [
        Format::Terminal,
        Format::Markdown,
        Format::Html,
        Format::Prometheus,
    ] {
        let text = render(&run, format);
        assert!(
            format == Format::Prometheus || !text.contains('\x1b'),
            "{format:?}"
        );
        // In Markdown a backslash before it makes a letter of it.
        let marked = text.replace("\\<", "").contains("<script");
        assert!(
            !marked || matches!(format, Format::Terminal | Format::Prometheus),
            "{format:?}: {text}"
        );
        for fact in ["RESULT", "100"] {
            assert!(
                format == Format::Prometheus || text.contains(fact),
                "{format:?}"
            );
        }
    }
}

#[test]
fn the_terminal_shows_the_whole_story() {
    let mut run = hostile();
    run.server.name = "s".to_owned();
    run.tools[0].tool = "t".to_owned();
    run.violations[0].tool = "t".to_owned();
    run.violations[0].instance_pointer = Some("/n".to_owned());
    run.notes.clear();
    assert_eq!(
        render(&run, Format::Terminal),
        "\
http://127.0.0.1:1/mcp (s 1, http, modern 2026-07-28)
open loop, 10 starts a second for 10s; warm-up 0 s; seed 7; strict

starts    100 offered (10.0/s), 100 made (10.0/s), 0 dropped, 0 late, 0 abandoned
calls     100 counted, 0 of the warm-up not: 97 ok, 3 timeout

   calls  unexpected      p50      p90      p99   p99.9     max  service p50      p99      max
t    100           3  50.0 ms  90.0 ms  99.0 ms  100 ms  100 ms      25.0 ms  49.5 ms  50.0 ms

violations  3 fail, 0 warn, 1 ignored
  fail  RESULT-SCHEMA-MISMATCH  t /n expected integer, was string  3 times
FAIL  tools/call.response.p99 < 50ms (is 99ms)

fail (exit 1)
  3 violations of the contract, 0 tolerated
"
    );
}

#[test]
fn the_page_draws_latency_calls_outcomes_and_percentiles_and_fetches_nothing() {
    let page = render(&hostile(), Format::Html);
    for id in ["latency", "calls", "outcomes", "percentiles"] {
        assert!(page.contains(&format!("<svg id=\"{id}\"")), "{id}");
    }
    assert!(page.matches("<polyline").count() >= 5);
    assert!(page.matches("<rect").count() >= 4);
    for outside in ["http://", "https://", "src=", "href=", "@import", "url("] {
        let shown = page.replace("http://127.0.0.1:1/mcp", "");
        assert!(!shown.contains(outside), "{outside}");
    }
}

#[test]
fn metrics_name_the_tool_and_escape_it() {
    let text = render(&hostile(), Format::Prometheus);
    assert!(text.contains("countersign_load_starts_total{kind=\"offered\"} 100\n"));
    assert!(text.contains(",site=\"result\",policy=\"fail\"} 3\n"));
    for line in text.lines() {
        let plain = line.starts_with('#')
            || line
                .rsplit_once(' ')
                .is_some_and(|(_, value)| value.parse::<f64>().is_ok());
        assert!(plain, "{line}");
    }
}

#[test]
fn every_metric_has_its_help_line_before_its_type() {
    let text = render(&hostile(), Format::Prometheus);
    let lines: Vec<&str> = text.lines().collect();
    let mut types = 0;
    for pair in lines.windows(2) {
        if let Some(named) = pair[1].strip_prefix("# TYPE ") {
            let name = named.split(' ').next().unwrap_or_default();
            let help = pair[0].strip_prefix(&format!("# HELP {name} "));
            assert!(help.is_some_and(|help| help.ends_with('.')), "{}", pair[0]);
            types += 1;
        }
    }
    assert_eq!(types, 6);
}

#[test]
fn a_rule_of_code_scanning_says_what_is_wrong() {
    let results: serde_json::Value =
        serde_json::from_str(&render(&hostile(), Format::Sarif)).expect("JSON");
    let driver = &results["runs"][0]["tool"]["driver"];
    let address = driver["informationUri"].as_str().unwrap_or_default();
    assert!(address.starts_with("https://"), "{driver}");
    let rule = &driver["rules"][0];
    let says = "structured content does not fit the output schema";
    for text in ["shortDescription", "fullDescription", "help"] {
        let text = rule[text]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with(says), "{rule}");
    }
}

#[test]
fn ci_systems_see_suites_and_results() {
    let mut run = hostile();
    run.violations[0].tool = run.tools[0].tool.clone();
    let suites = render(&run, Format::Junit);
    assert!(suites.contains("tests=\"4\" failures=\"2\""), "{suites}");
    assert!(suites.contains("the offered load was made"));
    assert!(!suites.contains("<script") && !suites.contains('\x1b'));
    let results: serde_json::Value =
        serde_json::from_str(&render(&run, Format::Sarif)).expect("JSON");
    let result = &results["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "RESULT-SCHEMA-MISMATCH");
    assert_eq!(result["level"], "error");
}
