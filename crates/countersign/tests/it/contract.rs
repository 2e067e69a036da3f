//! `countersign contract`: planted bugs are found and can be shown again, exit codes, baseline, reports, lists compared.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{CommandOutput, Folder, binary, finish};

/// The planted bugs and the rule each breaks.
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

/// Runs `contract run` with these words against a preset.
fn contract(preset: &str, words: &[&str]) -> CommandOutput {
    finish(&mut command(preset, words), b"")
}

fn command(preset: &str, words: &[&str]) -> Command {
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    let mut command = binary();
    command
        .args(["contract", "run", "--timeout", "3"])
        .args(words);
    command
        .arg("--")
        .arg(fixture)
        .args(["stdio", "--preset", preset]);
    command
}

/// What a run found and would show: tool, rule, reproducer.
fn found(run: &Value) -> Vec<(String, String, String)> {
    let text = |record: &Value, name: &str| record[name].as_str().unwrap_or_default().to_owned();
    let records = run["findings"].as_array().expect("a list").iter();
    let shown = records.filter(|record| record["policy"] != "ignore");
    shown
        .map(|record| {
            (
                text(record, "tool"),
                text(record, "rule"),
                text(record, "reproducer"),
            )
        })
        .collect()
}

fn json_of(ran: &CommandOutput) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

#[test]
fn twelve_planted_bugs_are_found_and_shown_again_by_their_reproducers() {
    let ran = contract("contract-bugs", &["--strict", "-o", "json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let found = found(&json_of(&ran));
    let rules: BTreeSet<(&str, &str)> = found
        .iter()
        .map(|(tool, rule, _)| (tool.as_str(), rule.as_str()))
        .collect();
    assert_eq!(rules, PLANTED.into());
    assert_eq!(found.len(), PLANTED.len(), "each is found once");
    for (tool, rule, reproducer) in &found {
        let again =
            through_a_shell(&reproducer.replacen("contract run", "contract run -o json", 1));
        let again = json_of(&again);
        let rules: Vec<(String, String)> = self::found(&again)
            .into_iter()
            .map(|(tool, rule, _)| (tool, rule))
            .collect();
        assert_eq!(rules, [(tool.clone(), rule.clone())], "{reproducer}");
    }
}

/// Pastes a line into a shell that finds our binary under its name.
fn through_a_shell(line: &str) -> CommandOutput {
    let built = Path::new(env!("CARGO_BIN_EXE_countersign"));
    let folder = built.parent().expect("a folder");
    let mut shell = Command::new("/bin/sh");
    shell
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .args(["-c", line])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    finish(&mut shell, b"")
}

#[test]
fn a_server_that_keeps_its_word_passes() {
    let ran = contract("contract-clean", &["--strict", "--seed", "7"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    let calls = ran
        .stdout
        .split(" calls")
        .next()
        .and_then(|text| text.rsplit(' ').next())
        .unwrap_or_default()
        .to_owned();
    assert_snapshot!(ran.stdout.replace(&calls, "N"), @"5 of 5 tools called, N calls, seed 7, strict: 0 fail, 0 warn, 0 known, 0 ignored");
}

#[test]
fn lenient_reports_and_does_not_gate() {
    let words = ["--tool", "returns_*", "--tool", "takes_*"];
    let ran = contract("contract-bugs", &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(
        ran.stdout.contains(
            "warn returns_wrong_type RESULT-SCHEMA-MISMATCH at /n: expected integer, got string"
        ),
        "{ran}"
    );
    assert_eq!(
        contract("contract-bugs", &[&words[..], &["--strict"]].concat()).code,
        Some(1)
    );
}

#[test]
fn a_baseline_is_written_on_demand_and_goes_stale() {
    let folder = Folder::with(&[]);
    let file = folder.path().join("known.json");
    let file = file.to_str().expect("a plain path");
    let words = ["--strict", "--tool", "returns_*", "--baseline", file];
    assert_eq!(
        contract("contract-bugs", &words).code,
        Some(2),
        "there is no such file yet"
    );
    let update = [&words[..], &["--update-baseline"]].concat();
    let in_ci = finish(command("contract-bugs", &update).env("CI", "true"), b"");
    assert_eq!(in_ci.code, Some(5), "{in_ci}");
    assert!(!Path::new(file).exists());
    assert_eq!(contract("contract-bugs", &update).code, Some(0));
    assert_eq!(
        contract("contract-bugs", &words).code,
        Some(0),
        "everything is known"
    );
    let mut known: Value =
        serde_json::from_slice(&std::fs::read(file).expect("it was written")).expect("JSON");
    assert_eq!(known["entries"].as_array().map(Vec::len), Some(3));
    let mut gone = known["entries"][0].clone();
    gone["fingerprint"] = json!("0".repeat(32));
    known["entries"].as_array_mut().expect("a list").push(gone);
    std::fs::write(file, known.to_string()).expect("it can be changed");
    let stale = contract("contract-bugs", &words);
    assert_eq!(stale.code, Some(6), "{stale}");
    assert!(
        stale.stderr.starts_with("stale in the baseline: returns_"),
        "{stale}"
    );
    known["entries"].as_array_mut().expect("a list").clear();
    std::fs::write(file, known.to_string()).expect("it can be changed");
    assert_eq!(
        contract("contract-bugs", &words).code,
        Some(1),
        "what is not known gates"
    );
}

#[test]
fn nothing_is_called_that_may_destroy() {
    let folder = Folder::with(&[(
        "script.json",
        r#"{"name":"wiper","tools":[{"tool":{"name":"wipe","inputSchema":{"type":"object"}},"result":{"content":[]}}]}"#,
    )]);
    let script = folder.path().join("script.json");
    let run = |words: &[&str]| {
        let fixture = countersign_fixture::executable().expect("the fixture is built");
        let mut command = binary();
        command
            .args(["contract", "run"])
            .args(words)
            .arg("--")
            .arg(fixture)
            .args(["stdio", "--script"])
            .arg(&script);
        finish(&mut command, b"")
    };
    let refused = run(&[]);
    assert_eq!(refused.code, Some(5), "{refused}");
    assert!(
        refused
            .stdout
            .starts_with("not called: wipe (it does not say it is harmless)\n"),
        "{refused}"
    );
    assert!(
        refused
            .stderr
            .contains("hint: name the ones that may with --allow-tool GLOB"),
        "{refused}"
    );
    assert_eq!(run(&["--allow-tool", "wipe"]).code, Some(0));
}

#[test]
fn who_cannot_be_asked_is_told_apart() {
    let without_server = finish(
        binary().args(["contract", "run", "--", "/no/such/program"]),
        b"",
    );
    assert_eq!(without_server.code, Some(3), "{without_server}");
    let nothing = finish(binary().args(["contract", "run"]), b"");
    assert_snapshot!(nothing, @"
    exit: 2
    --- stdout
    --- stderr
    error: there is no server to test
    hint: give a URL, --plan FILE, or -- COMMAND
    ");
    let case = contract(
        "contract-clean",
        &["--tool", "counts", "--case", "{nonsense"],
    );
    assert_eq!(case.code, Some(2), "{case}");
}

#[test]
fn reports_are_written_beside_what_is_printed() {
    let folder = Folder::with(&[]);
    let report = |form: &str| format!("{form}={}", folder.path().join(form).display());
    let forms = ["json", "jsonl", "markdown", "junit", "sarif", "prometheus"].map(report);
    let mut words = vec!["--strict", "--tool", "returns_*"];
    words.extend(forms.iter().flat_map(|form| ["--report", form.as_str()]));
    assert_eq!(contract("contract-bugs", &words).code, Some(1));
    let read =
        |form: &str| std::fs::read_to_string(folder.path().join(form)).expect("it was written");
    let sarif: Value = serde_json::from_str(&read("sarif")).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(
        sarif["runs"][0]["results"].as_array().map(Vec::len),
        Some(3)
    );
    let junit = read("junit");
    assert!(junit.contains("tests=\"16\" failures=\"3\""), "{junit}");
    assert!(
        read("markdown")
            .contains(r"| fail | returns\_extra | RESULT-EXTRA-PROPERTIES | /took\_ms |"),
        "{}",
        read("markdown")
    );
    assert_eq!(read("jsonl").lines().count(), 3);
    assert!(read("prometheus").contains(
        r#"contract_violations_total{tool="returns_no_structure",site="missing",policy="fail"}"#
    ));
}

#[test]
fn lists_are_compared() {
    let folder = Folder::with(&[
        (
            "old.json",
            r#"[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object","properties":{"n":{"maximum":5}}}}]"#,
        ),
        (
            "new.json",
            r#"{"tools":[{"name":"b","inputSchema":{"type":"object","properties":{"n":{"maximum":3}}},"description":"words"}]}"#,
        ),
    ]);
    assert_snapshot!(folder.countersign("contract diff old.json new.json"), @"
    exit: 1
    --- stdout
    breaking   a: the tool is gone
    breaking   b/inputSchema/properties/n/maximum: allows less than before
    compatible b/description: the wording changed
    --- stderr
    ");
    assert_eq!(
        folder.countersign("contract diff old.json old.json").code,
        Some(0)
    );
}

/// Runs `contract run` with these words against a server with this script.
fn scripted(script: &str, words: &[&str]) -> CommandOutput {
    let folder = Folder::with(&[("script.json", script)]);
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    let mut command = binary();
    command
        .args(["contract", "run"])
        .args(words)
        .arg("--")
        .arg(fixture)
        .args(["stdio", "--script"])
        .arg(folder.path().join("script.json"));
    finish(&mut command, b"")
}

/// A server, or a gateway before it, that answers every call with an error.
const BLOCKS_ALL: &str = r#"{"name":"gateway","tools":[{"tool":{"name":"t","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},"result":{"content":[{"type":"text","text":"blocked by policy"}],"isError":true}}]}"#;

#[test]
fn a_run_without_a_successful_call_is_no_pass() {
    let ran = scripted(BLOCKS_ALL, &["-o", "junit"]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(
        ran.stderr
            .starts_with("error: no valid call had a result, so nothing was tested\nhint: "),
        "{ran}"
    );
    assert!(
        ran.stdout
            .contains("<failure message=\"no valid call of any tool had a result"),
        "{ran}"
    );
    let one = scripted(BLOCKS_ALL, &["--tool", "t", "--case", "{}"]);
    assert_eq!(one.code, Some(0), "one case is what it is: {one}");
}

#[test]
fn a_tool_that_the_server_does_not_have_is_no_pass() {
    let ran = scripted(BLOCKS_ALL, &["--tool", "search"]);
    assert_snapshot!(ran, @r#"
    exit: 2
    --- stdout
    --- stderr
    error: the server has no tool that matches "search"
    hint: it has t
    "#);
}

#[test]
fn a_server_that_wants_a_credential_leads_to_the_header_flag() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut request = [0; 4096];
        let read = std::io::Read::read(&mut stream, &mut request).expect("a request");
        assert!(read > 0);
        let answer = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        std::io::Write::write_all(&mut stream, answer).expect("an answer");
    });
    let url = format!("http://{address}/mcp");
    let ran = finish(binary().args(["contract", "run", &url]), b"");
    server.join().expect("it answered");
    assert_eq!(ran.code, Some(3), "{ran}");
    assert!(
        ran.stderr
            .contains("hint: the server wants a credential: give it with --header"),
        "{ran}"
    );
}

#[test]
fn a_report_of_an_unknown_kind_lists_the_kinds_there_are() {
    for wrong in ["xml=out.xml", "out.xml"] {
        let ran = contract("contract-clean", &["--report", wrong]);
        assert_eq!(ran.code, Some(2), "{ran}");
        let kinds = "text, json, jsonl, markdown, junit, sarif, prometheus";
        assert!(ran.stderr.contains(kinds), "{ran}");
    }
}
