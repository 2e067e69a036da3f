//! `serve` and its configuration file: what changes in it holds for the next call, what cannot be used is said in the
//! words of `config check`.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::serve::children;
use crate::support::Folder;
use crate::support::gateway::RunningGateway;

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bad_output"}}"#;

fn config(mode: &str) -> String {
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    let server = json!({"command": fixture, "args": ["stdio", "--preset", "demo"]});
    let config = json!({"output_validation": {"mode": mode}, "mcpServers": {"x": server}});
    format!("{config:#}\n")
}

fn write(folder: &Folder, text: &str) {
    std::fs::write(folder.path().join("c.json"), text).expect("written");
}

fn is_blocked(gateway: &RunningGateway) -> bool {
    let answer = gateway.curl("POST", "/mcp/s/x", &gateway.key(), CALL);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer.contains("output schema validation failed")
}

fn applied(gateway: &RunningGateway) -> u64 {
    let counts = gateway.json("/api/v1/status");
    counts["counts"]["config_reloads"]
        .as_u64()
        .expect("a count")
}

#[test]
fn what_changes_in_the_file_holds_for_the_next_call() {
    let folder = Folder::with(&[("c.json", &config("warn"))]);
    let mut gateway = RunningGateway::start(&folder, "serve --config c.json");
    gateway.all_up(1);
    let family = children(gateway.process());
    assert!(!is_blocked(&gateway));
    write(&folder, &config("strict"));
    RunningGateway::wait_for(|| applied(&gateway) == 1);
    assert!(is_blocked(&gateway));

    // Broken: nothing changes, and the log says what `config check` says.
    write(&folder, &config("strickt"));
    let checked = folder.countersign("config check c.json");
    assert_eq!(checked.code, Some(2));
    let mut lines = checked.stderr.lines();
    let error = lines.next().and_then(|line| line.strip_prefix("error: "));
    let hint = lines.next().and_then(|line| line.strip_prefix("hint: "));
    let (error, hint) = (error.expect("an error"), hint.expect("a hint"));
    let said = gateway.hear("the new configuration is not used");
    for words in [error, hint] {
        assert!(
            said.contains(&words.replace('"', "\\\"")),
            "{words}\n{said}"
        );
    }
    assert!(is_blocked(&gateway));
    let status = gateway.json("/api/v1/status");
    assert_eq!(status["config"]["errors"][0]["message"], error);
    assert_eq!(status["config"]["errors"][0]["hint"], hint);

    // Mended, and read on a signal; a setting that has to wait is named.
    let waiting = config("off").replacen('{', "{\n  \"listen\": \"127.0.0.1:1\",\n  \"data_dir\": \"elsewhere\",\n  \"max_message_bytes\": 1048576,", 1);
    write(&folder, &waiting);
    let process = i32::try_from(gateway.process()).expect("a process id");
    kill_process(Pid::from_raw(process).expect("a process"), Signal::HUP).expect("sent");
    let said = gateway.hear("wait for a restart");
    // Flags hold over the file, now as before.
    assert!(said.contains("keys=\"max_message_bytes\""), "{said}");
    assert!(!is_blocked(&gateway));
    assert_eq!(children(gateway.process()), family, "the server stays");

    // A patch keeps the rest of the file as it was written.
    let patch = r#"{"output_validation": {"mode": "strict"}, "max_message_bytes": null}"#;
    let answer = gateway.curl("PATCH", "/api/v1/config", &gateway.admin_key(), patch);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(is_blocked(&gateway));
    let file = std::fs::read_to_string(folder.path().join("c.json")).expect("a file");
    let expected = waiting.replace("\"off\"", "\"strict\"");
    let expected = expected.replace("\n  \"max_message_bytes\": 1048576,", "");
    assert_eq!(
        serde_json::from_str::<Value>(&file).expect("JSON"),
        serde_json::from_str::<Value>(&expected).expect("JSON")
    );
    assert!(file.contains("  \"data_dir\": \"elsewhere\""), "{file}");
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}

#[test]
fn the_demo_stays_whatever_the_file_says() {
    let folder = Folder::with(&[("c.json", "{}")]);
    let mut gateway = RunningGateway::start(&folder, "serve --demo --config c.json");
    gateway.table();
    write(&folder, &config("warn"));
    gateway.all_up(2);
    let broken = r#"{"mcpServers": {"stub": {"url": "http://127.0.0.1:9/"}}}"#;
    let answer = gateway.curl("PATCH", "/api/v1/config", &gateway.admin_key(), broken);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(
        answer.contains("already has a server named 'stub'"),
        "{answer}"
    );
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}
