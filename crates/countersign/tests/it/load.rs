//! `countersign load`: plans explained and refused, runs with their reports and exit codes.

use insta::assert_snapshot;

use crate::support::{Folder, countersign};

/// A plan over the demo server as a child process, with these tables after its server.
fn folder(rest: &str) -> Folder {
    let program = env!("CARGO_BIN_EXE_countersign");
    let plan = format!("[server]\ncommand = {program:?}\nargs = [\"demo-server\"]\n{rest}");
    Folder::with(&[("plan.toml", &plan)])
}

const CALLS: &str =
    "[load]\nrate = 20\nduration = \"250ms\"\n[[scenario]]\ntool = \"conforming\"\n";

#[test]
fn a_plan_is_explained_and_nothing_is_started() {
    let plan = "[server]\ncommand = \"no-such-program\"\n[load]\nexecutor = \"vus\"\nvus = 2\nduration = \"1m\"\n[[scenario]]\ntool = \"search\"\narguments = { q = \"x\" }\n";
    let folder = Folder::with(&[("plan.toml", plan)]);
    assert_snapshot!(folder.countersign("load run plan.toml --explain"), @r#"
    exit: 0
    --- stdout
    Server      no-such-program (stdio, whichever era it speaks)
    Load        closed loop, 2 users for 60s, 0us between scenarios
                the first 0us are not counted; a call may take 30s; at most 1000 in flight; seed 0
                one process, many calls in flight on it
    Scenario    search: 1 of 1
                call search {"q":"x"}
    Validation  lenient: violations are counted and never fail the run
    Nothing was sent.
    --- stderr
    "#);
    let ran = folder.countersign("load run plan.toml");
    assert_eq!(ran.code, Some(3), "{ran}");
}

#[test]
fn a_misspelt_plan_says_where_and_what_was_meant() {
    let folder = folder("[load]\nrat = 20\n[[scenario]]\ntool = \"t\"\n");
    let ran = folder.countersign("load run plan.toml");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("line 5, column 1: unknown"), "{ran}");
    assert!(!ran.stderr.contains("\\n"), "{ran}");
    assert!(
        ran.stderr.ends_with("hint: did you mean `rate`?\n"),
        "{ran}"
    );
    let ran = countersign("load run no-such-plan.toml");
    assert_eq!(ran.code, Some(2));
}

#[test]
fn a_run_is_reported_in_every_form_and_shown_again() {
    let folder = folder(&format!("{CALLS}[output]\nhtml = \"out/run.html\"\n"));
    let ran = folder
        .countersign("load run plan.toml --report json=run.json --report prometheus=run.prom");
    assert!(ran.stdout.contains("5 offered"), "{ran}");
    assert!(ran.stdout.contains("5 ok"), "{ran}");
    let page = std::fs::read_to_string(folder.path().join("out/run.html")).expect("a page");
    assert!(page.contains("<svg id=\"latency\""));
    let suites = folder.countersign("load report run.json -o junit").stdout;
    assert!(
        suites.contains("<testsuite name=\"conforming\""),
        "{suites}"
    );
    let again = folder.countersign("load report run.json");
    assert_eq!((again.code, again.stdout), (Some(0), ran.stdout));
    let json = folder.countersign("load report run.json -o json");
    let run: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(run["counters"]["started"], 5);
    let ran = folder.countersign("load report plan.toml");
    assert_eq!(ran.code, Some(2), "{ran}");
}

#[test]
fn a_regression_takes_five_runs_and_more_than_chance() {
    let folder = folder(CALLS);
    let ran = folder.countersign("load run plan.toml --report json=run.json");
    assert!(ran.code.is_some(), "{ran}");
    let text = std::fs::read_to_string(folder.path().join("run.json")).expect("a run");
    let mut run: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for number in 0..5 {
        for (name, base) in [("old", 10.0), ("new", 20.0)] {
            run["all"]["response"]["p99_ms"] = (base + f64::from(number)).into();
            let file = folder.path().join(format!("{name}-{number}.json"));
            std::fs::write(file, run.to_string()).expect("a file");
        }
    }
    let files = |name: &str, many| {
        let all: Vec<String> = (0..many)
            .map(|number| format!("{name}-{number}.json"))
            .collect();
        all.join(" ")
    };
    let compared = |many| {
        folder.countersign(&format!(
            "load compare --before {} --after {}",
            files("old", many),
            files("new", many)
        ))
    };
    let five = compared(5);
    assert_eq!(five.code, Some(1), "{five}");
    assert!(
        five.stdout.contains("response p99 ms went from 12 to 22"),
        "{five}"
    );
    let four = compared(4);
    assert_eq!(four.code, Some(0), "{four}");
    assert!(four.stdout.contains("no conclusion"), "{four}");
}

#[test]
fn a_broken_contract_fails_only_a_strict_run() {
    let calls = CALLS.replace("conforming", "bad_output");
    let lenient = folder(&calls).countersign("load run plan.toml -o json");
    let run: serde_json::Value = serde_json::from_str(&lenient.stdout).expect("JSON");
    assert_eq!(run["policies"]["warn"], 5, "{lenient}");
    assert_ne!(lenient.code, Some(1), "{lenient}");
    let strict = folder(&calls).countersign("load run plan.toml --strict");
    assert_eq!(strict.code, Some(1), "{strict}");
    assert!(
        strict
            .stdout
            .contains("protocol_error/schema_violation result"),
        "{strict}"
    );
}

#[test]
fn load_that_cannot_be_made_has_its_own_exit_code() {
    let plan = "[load]\nrate = 50000\nduration = \"300ms\"\nmax_in_flight = 1\n[[scenario]]\ntool = \"conforming\"\n";
    let ran = folder(plan).countersign("load run plan.toml");
    assert_eq!(ran.code, Some(4), "{ran}");
    assert!(ran.stdout.contains("no result"), "{ran}");
}

#[test]
fn a_server_wrapped_is_the_same_server() {
    let folder = folder(CALLS);
    let program = env!("CARGO_BIN_EXE_countersign");
    let config = folder.path().join("config.json");
    std::fs::write(&config, "{}").expect("a file");
    let through = format!(
        "{program} wrap --config {} --data-dir {} -- {program} demo-server",
        config.display(),
        folder.path().join("data").display()
    );
    let mut command = crate::support::binary();
    command
        .current_dir(folder.path())
        .args([
            "load",
            "overhead",
            "plan.toml",
            "--calls",
            "20",
            "--block",
            "5",
            "-o",
            "json",
        ])
        .args(["--through", &through]);
    let ran = crate::support::finish(&mut command, b"");
    assert_eq!(ran.code, Some(0), "{ran}");
    let compared: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(compared["bodies"]["same"], 20, "{ran}");
    assert_eq!(compared["gateway_changed"], 0);
}
