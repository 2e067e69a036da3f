//! The REST interface, the command line beside a running gateway and the command line on the store of a stopped gateway
//! give the same answer to the same query.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::gateway::RunningGateway;
use crate::support::load::Load;
use crate::support::{Folder, preset};

/// A gateway that has recorded calls of every kind: two servers, three modes, findings of several stages.
fn told(folder: &Folder) -> RunningGateway {
    let gateway = RunningGateway::start(folder, "serve --config c.json");
    gateway.all_up(3);
    let calls = [
        ("/mcp/s/strict", "conforming"),
        ("/mcp/s/strict", "bad_output"),
        ("/mcp/s/strict", "too_deep"),
        ("/mcp/s/warn", "bad_output"),
        ("/mcp/s/warn", "too_deep"),
        ("/mcp/s/warn", "error"),
        ("/mcp/s/off", "bad_output"),
        ("/mcp/all", "nothing"),
        ("/mcp/all", "warn__text_only"),
    ];
    for (number, (path, tool)) in calls.iter().enumerate() {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":"req {number}","method":"tools/call","params":{{"name":"{tool}"}}}}"#
        );
        gateway.curl("POST", path, &gateway.key(), &call);
    }
    gateway
}

fn three_modes() -> Folder {
    let servers = json!({
        "strict": preset("demo", "strict"), "warn": preset("demo", "warn"), "off": preset("demo", "off"),
    });
    Folder::over(&servers, &[])
}

fn page(text: &str) -> Value {
    serde_json::from_str(text).expect(text)
}

fn encoded(pairs: &[(&str, String)]) -> String {
    let pair = |(key, value): &(&str, String)| {
        let value = value
            .replace('%', "%25")
            .replace(' ', "%20")
            .replace('+', "%2B");
        format!("{key}={value}")
    };
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}

/// What the command line says.
fn asked(folder: &Folder, pairs: &[(&str, String)]) -> Value {
    let mut command = crate::support::binary();
    command.current_dir(folder.path());
    command.args([
        "activity",
        "list",
        "--data-dir",
        "data",
        "-o",
        "json",
        "-n",
        "1000",
    ]);
    for (key, value) in pairs {
        command
            .arg(format!("--{}", key.replace('_', "-")))
            .arg(value);
    }
    let ran = crate::support::finish(&mut command, b"");
    assert_eq!(ran.code, Some(0), "{pairs:?}: {ran}");
    page(&ran.stdout)
}

/// Every filter with a value that finds something, and every two of them.
fn questions(gateway: &RunningGateway) -> Vec<Vec<(&'static str, String)>> {
    let everything = gateway.json("/api/v1/activity?limit=1000");
    let records = everything["activities"].as_array().expect("records");
    let text = |record: &Value, name: &str| record[name].as_str().expect("text").to_owned();
    let decision = records
        .iter()
        .find(|record| record["type"] == "policy_decision");
    let decision = decision.expect("a decision");
    let middle = text(&records[records.len() / 2], "timestamp");
    let filters = vec![
        ("type", "policy_decision,system_start".to_owned()),
        ("status", "blocked,flagged,rejected".to_owned()),
        ("decision", "flagged,blocked".to_owned()),
        ("stage", "guard".to_owned()),
        ("rule", "schema.type,guard.max_depth".to_owned()),
        ("server", "strict,warn".to_owned()),
        ("tool", "bad_output,too_deep".to_owned()),
        ("since", middle.clone()),
        ("until", middle),
        ("request_id", text(decision, "request_id")),
        ("parent_id", text(decision, "parent_id")),
    ];
    let mut questions = vec![Vec::new(), filters.clone()];
    for (index, one) in filters.iter().enumerate() {
        questions.push(vec![one.clone()]);
        questions.extend(
            filters
                .iter()
                .skip(index + 1)
                .map(|other| vec![one.clone(), other.clone()]),
        );
    }
    questions
}

#[test]
fn every_filter_alone_and_combined_has_one_answer() {
    let folder = three_modes();
    let gateway = told(&folder);
    let questions = questions(&gateway);
    let mut answers = Vec::new();
    for pairs in &questions {
        let over_rest = gateway.json(&format!("/api/v1/activity?limit=1000&{}", encoded(pairs)));
        let by_command = asked(&folder, pairs);
        assert_eq!(by_command, over_rest, "{pairs:?}");
        let found = over_rest["activities"].as_array().expect("records").len();
        assert!(found > 0 || pairs.len() != 1, "{pairs:?} finds nothing");
        let total = gateway.json(&format!(
            "/api/v1/activity?total=true&limit=1&{}",
            encoded(pairs)
        ));
        assert_eq!(total["total"], found, "{pairs:?}");
        answers.push(over_rest);
    }
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    for (pairs, answer) in questions.iter().zip(answers) {
        let mut left = asked(&folder, pairs);
        // The stop is one more record, and the only one.
        let records = left["activities"].as_array_mut().expect("records");
        records.retain(|record| record["type"] != "system_stop");
        assert_eq!(left, answer, "{pairs:?}");
    }
}

#[test]
fn every_command_says_the_same_with_and_without_a_gateway() {
    let folder = three_modes();
    let gateway = told(&folder);
    let commands = [
        "activity list -o csv --status blocked",
        "activity list -o jsonl --type tool_call",
        "activity list --decision flagged",
        "activity export --format csv --type tool_call",
        "activity export --format sarif",
        "activity export --status error",
        "activity summary --by rule -o json",
        "activity summary --by tool",
        "activity hours",
    ];
    let run = |line: &str| {
        let ran = folder.countersign(&format!("{line} --data-dir data"));
        assert_eq!(ran.code, Some(0), "{line}: {ran}");
        ran.stdout
    };
    let running: Vec<String> = commands.iter().map(|line| run(line)).collect();
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    for (line, before) in commands.iter().zip(running) {
        let after = run(line);
        // A summary says when it was made, and counts the stop.
        let rows = |text: &str| match (page_of(text), text.split_once("\n\n")) {
            (Some(page), _) if page["rows"].is_array() => page["rows"].to_string(),
            (_, Some((_, rows))) => rows.to_owned(),
            _ => text.to_owned(),
        };
        assert_eq!(rows(&after), rows(&before), "{line}");
    }
}

fn page_of(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

#[test]
fn unknown_words_are_refused_with_the_known_ones() {
    let folder = Folder::with(&[]);
    let mut said = String::new();
    for line in [
        "list --type call",
        "list --decision no",
        "list --stage schema",
        "list --rule type",
        "list --since soon",
        "list --parent-id 7",
        "list --cursor 7",
        "list -n 0",
        "export --format xml",
        "watch --status ok",
        "summary --by client",
        "summary --period long",
    ] {
        let ran = folder.countersign(&format!("activity {line} --data-dir data"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}");
        said.push_str(&ran.stderr);
    }
    insta::assert_snapshot!(said, @"
    error: unknown type `call`; allowed: tool_call, prompt_get, resource_read, server_text, policy_decision, schema_diagnostic, tool_change, server_change, config_change, system_start, system_stop, completion, list_change, access_refusal, login
    error: unknown decision `no`; allowed: allowed, flagged, rewritten, blocked
    error: unknown stage `schema`; allowed: transport, shape, guard, contract, sanitise, classify, input, access
    error: unknown rule `type`; allowed: transport.<rule>, shape.<rule>, guard.<limit>, contract.<rule>, schema.<keyword>, token.<family>, invisible.<class>, classifier.<name>, input.schema.<keyword>, access.<rule>, ansi, encoded_token, boundary_forgery, truncated
    error: since: not a time: `soon`; expected RFC 3339 such as 2026-01-31T12:00:00Z, or a period such as 30s, 15m, 1h, 7d
    error: parent_id: not a record id: expected 26 characters of Crockford base 32, the first between 0 and 7
    error: not a cursor of this store; leave it out to start again
    error: limit must be a number from 1 to 1000
    error: unknown format `xml`; allowed: jsonl, csv, sarif
    error: unknown status `ok`; allowed: success, error, rejected, flagged, rewritten, blocked
    error: unknown grouping `client`; allowed: server, tool, rule
    error: period: not a time: `long`; expected RFC 3339 such as 2026-01-31T12:00:00Z, or a period such as 30s, 15m, 1h, 7d
    ");
}

#[test]
fn pages_do_not_shift_while_records_arrive() {
    let folder = three_modes();
    let gateway = told(&folder);
    let before = gateway.json("/api/v1/activity?limit=1000&server=strict,warn,off");
    let known: Vec<Value> = before["activities"].as_array().expect("records").clone();
    let load = Load::new(gateway.address(), gateway.key(), "/mcp/s/strict", "l");
    let mut seen = Vec::new();
    load.run(2, || {
        load.reached(5);
        let mut cursor = String::new();
        loop {
            let line = format!(
                "activity list --server strict,warn,off --data-dir data -o json -n 3 {cursor}"
            );
            let ran = folder.countersign(&line);
            assert_eq!(ran.code, Some(0), "{ran}");
            let page = page(&ran.stdout);
            seen.extend(page["activities"].as_array().expect("records").clone());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("--cursor {next}"),
                None => break,
            }
        }
    });
    let places: Vec<u64> = seen
        .iter()
        .filter_map(|record| record["seq"].as_u64())
        .collect();
    assert!(
        places.is_sorted_by(|one, other| one > other),
        "newest first, none twice"
    );
    assert!(
        seen.ends_with(&known),
        "every record that was there, in its order"
    );
    assert!(seen.len() > known.len(), "records arrived");
}
