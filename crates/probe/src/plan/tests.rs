//! Whole plans: what is read, what is refused and with which hint, what is explained.

use std::path::Path;

use super::*;

const FULL: &str = r#"
[server]
url = "http://127.0.0.1:9/mcp?key=s3cret"
headers = { Authorization = "Bearer ${env:TOKEN}" }
era = "modern"

[validation]
strict = true
[[validation.override]]
tool = "woo_*"
site = ["result", "format"]
policy = "warn"
until = 2026-12-31
reason = "upstream sends local dates"

[load]
executor = "rate"
stages = [{ duration = "10s", rate = 50 }, { duration = "1m", rate = 50 }]
warm_up = "5s"
timeout = "2s"
seed = 7

[[scenario]]
name = "order"
weight = 3
[[scenario.call]]
tool = "create"
arguments = { name = "x", n = 1.0 }
take = { id = "/structuredContent/id" }
[[scenario.call]]
tool = "delete"
arguments_json = '{ "id": "${take:id}" }'
expect = "deny"

[[scenario]]
tool = "search"

[thresholds]
"tools/call{tool=search}.response.p99" = "< 300ms"
dropped_rate = { limit = "< 0.1%", abort_on_fail = true }

[output]
html = "out/run.html"
"#;

fn parse(text: &str) -> Result<Plan, PlanError> {
    let environment = |name: &str| (name == "TOKEN").then(|| "t0ken".to_owned());
    Plan::parse(text, Path::new("/plans"), &environment)
}

#[test]
fn a_plan_is_explained_without_its_secrets() {
    let plan = parse(FULL).expect("a plan");
    let text = plan.explain();
    assert!(!format!("{text}{plan:?}").contains("t0ken"));
    assert_eq!(
        text,
        r#"Server      http://127.0.0.1:9/mcp (http, modern)
Load        open loop, to 50/s in 10s, to 50/s in 60s
            the first 5s are not counted; a call may take 2s; at most 1000 in flight; seed 7
Scenario    order: 3 of 4
            call create {"name":"x","n":1.0}
            take id from "/structuredContent/id" of its result
            call delete arguments from take:id (expects deny)
Scenario    search: 1 of 4
            call search {}
Validation  strict: more than 0 violations fail the run
            woo_* at result, format is warn until 2026-12-31: upstream sends local dates
Thresholds  dropped_rate < 0.001 (ends the run)
            tools/call{tool=search}.response.p99 < 300ms
Output      html to /plans/out/run.html
Nothing was sent.
"#
    );
}

#[test]
fn a_misspelt_key_is_an_error_with_the_nearest() {
    for (from, to, hint) in [
        ("timeout =", "time_out =", Some("timeout")),
        ("strict =", "stict =", Some("strict")),
        ("\"rate\"", "\"rates\"", Some("rate")),
        ("weight =", "wieght =", Some("weight")),
        ("html =", "htm =", Some("html")),
        ("dropped_rate", "droped_rate", Some("dropped_rate")),
        ("\"result\", \"format\"", "\"results\"", None),
    ] {
        let text = FULL.replacen(from, to, 1);
        assert_ne!(text, FULL, "{from}");
        let error = parse(&text).expect_err(to);
        assert_eq!(error.nearest(), hint, "{to}: {error}");
    }
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    for (from, to, problem) in [
        ("url =", "command = \"x\"\nurl =", "server: give either"),
        (
            "url = \"http",
            "url = \"gopher",
            "server.url cannot be used",
        ),
        ("${env:TOKEN}", "${env:NONE}", "NONE is not set"),
        ("seed = 7", "vus = 2", "belong to executor"),
        ("seed = 7", "shape = \"constant\"", "load.stages"),
        ("warm_up = \"5s\"", "warm_up = \"70s\"", "load.warm_up"),
        ("${take:id}", "${take:other}", "no earlier call"),
        ("${take:id}", "${feed:id}", "has no feeder"),
        (
            "/structuredContent/id",
            "structuredContent",
            "not a JSON pointer",
        ),
        ("tool = \"search\"", "", "nothing to call"),
        ("rate = 50 }]", "rate = -1 }]", "load.stages.rate"),
    ] {
        let text = FULL.replacen(from, to, 1);
        assert_ne!(text, FULL, "{from}");
        let error = parse(&text).expect_err(to).to_string();
        assert!(error.contains(problem), "{to}: {error}");
    }
}

#[test]
fn the_smallest_plan_has_sensible_defaults() {
    let text = "[server]\ncommand = \"x\"\nargs = [\"a\"]\n[[scenario]]\ntool = \"t\"\n";
    let plan = parse(text).expect("a plan");
    assert!(!plan.validation.strict);
    assert_eq!(plan.duration(), Duration::from_secs(30));
    assert!(
        plan.explain()
            .starts_with("Server      x a (stdio, whichever era it speaks)\n")
    );
}

#[test]
fn the_plan_in_the_guide_is_one() {
    let guide = include_str!("../../../../docs/guides/load.md");
    let text = guide.split("```toml\n").nth(1).expect("a plan");
    let text = text.split("```").next().expect("its end");
    let plan = parse(text).expect("it can be read");
    assert_eq!((plan.scenarios.len(), plan.thresholds.len()), (2, 3));
}
