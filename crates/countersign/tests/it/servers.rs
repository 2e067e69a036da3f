//! `servers add`, `remove`, `enable`, `disable` and `restart`: in the file, and in the gateway that runs with it.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::serve::children;
use crate::support::Folder;
use crate::support::gateway::RunningGateway;

const FILE: &str = "{\n  \"output_validation\": {\"mode\": \"strict\"},\n  \"mcpServers\": {\n    \"old\": {\"command\": \"false\",   \"enabled\": false}\n  }\n}\n";

fn fixture() -> String {
    let fixture = countersign_fixture::executable().expect("the fixture is built");
    fixture.to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn a_file_is_changed_without_a_gateway() {
    let folder = Folder::with(&[("c.json", FILE)]);
    let added = folder.run_on_file(&[
        "servers",
        "add",
        "new",
        "--url",
        "https://x.example/mcp",
        "--header",
        "Authorization: Bearer ${env:TOKEN}",
        "--set",
        "timeout=30s",
        "--set",
        "queue_size=5",
    ]);
    assert_eq!(added.code, Some(0), "{added}");
    assert_eq!(
        added.stdout,
        "added new in c.json\nno gateway is running; it takes effect with the next start\n"
    );
    let entry = "false},\n    \"new\": {\n      \"url\": \"https://x.example/mcp\",\n      \"headers\": {\"Authorization\": \"Bearer ${env:TOKEN}\"},\n      \"queue_size\": 5,\n      \"timeout\": \"30s\"\n    }\n  }\n}\n";
    assert_eq!(folder.file(), FILE.replace("false}\n  }\n}\n", entry));
    let enabled = folder.run_on_file(&["servers", "enable", "old", "-o", "json"]);
    let said: Value = serde_json::from_str(&enabled.stdout).expect("JSON");
    let expected = json!({"server": "old", "change": "enabled", "file": "c.json", "changed": true, "in_force": false});
    assert_eq!(said, expected);
    let again = folder.run_on_file(&["servers", "enable", "old"]);
    assert!(
        again
            .stdout
            .starts_with("old was enabled already in c.json\n"),
        "{again}"
    );
    assert_eq!(
        folder.run_on_file(&["servers", "disable", "old"]).code,
        Some(0)
    );
    assert_eq!(
        folder.run_on_file(&["servers", "remove", "new"]).code,
        Some(0)
    );
    assert_eq!(folder.file(), FILE);
}

#[test]
fn what_cannot_be_done_changes_nothing_and_says_what_next() {
    let folder = Folder::with(&[("c.json", FILE)]);
    for (arguments, code, words) in [
        (
            &["servers", "remove", "odl"][..],
            1,
            "did you mean \"old\"?",
        ),
        (
            &["servers", "add", "old", "--url", "http://x.example/"],
            2,
            "choose another name",
        ),
        (
            &["servers", "add", "A B", "--url", "http://x.example/"],
            2,
            "like \"a-b\"",
        ),
        (&["servers", "add", "new", "--url", "no"], 2, "hint:"),
        (
            &[
                "servers",
                "add",
                "new",
                "--url",
                "http://x.example/",
                "--set",
                "timeuot=1s",
            ],
            2,
            "timeout",
        ),
        (
            &[
                "servers",
                "add",
                "new",
                "--url",
                "http://x.example/",
                "--header",
                "X",
            ],
            2,
            "Name: value",
        ),
        (&["servers", "add", "new"], 2, "--url"),
        (&["servers", "restart", "old"], 3, "no gateway is running"),
    ] {
        let ran = folder.run_on_file(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran}");
        assert!(ran.stderr.contains(words), "{arguments:?}: {ran}");
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert_eq!(folder.file(), FILE, "{arguments:?}");
    }
}

#[test]
fn a_running_gateway_takes_a_change_at_once() {
    let folder = Folder::with(&[("c.json", FILE)]);
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    let fixture = fixture();
    let added = folder.run_on_file(&[
        "servers", "add", "demo", "--", &fixture, "stdio", "--preset", "demo",
    ]);
    assert_eq!(added.code, Some(0), "{added}");
    assert!(
        added
            .stdout
            .ends_with("it is in force; `countersign servers list` shows its state\n"),
        "{added}"
    );
    let state = |wanted: &str| {
        let path = "/api/v1/servers/demo";
        RunningGateway::wait_for(|| gateway.json(path)["state"] == wanted);
    };
    state("up");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"conforming"}}"#;
    let called = || gateway.curl("POST", "/mcp/s/demo", &gateway.key(), call);
    assert!(called().contains("structuredContent"));
    let before = children(gateway.process());
    let restarted = folder.run_on_file(&["servers", "restart", "demo"]);
    assert_eq!(restarted.code, Some(0), "{restarted}");
    RunningGateway::wait_for(|| {
        let now = children(gateway.process());
        now.len() == 1 && now != before
    });
    state("up");
    assert!(called().contains("structuredContent"));
    assert_eq!(
        folder.run_on_file(&["servers", "disable", "demo"]).code,
        Some(0)
    );
    assert_eq!(gateway.json("/api/v1/servers/demo")["state"], "disabled");
    let restarted = folder.run_on_file(&["servers", "restart", "demo"]);
    assert_eq!(restarted.code, Some(2), "{restarted}");
    assert!(restarted.stderr.contains("hint:"), "{restarted}");
    assert_eq!(
        folder.run_on_file(&["servers", "remove", "demo"]).code,
        Some(0)
    );
    RunningGateway::wait_for(|| children(gateway.process()).is_empty());
    assert_eq!(folder.file(), FILE);
    let records =
        folder.countersign("activity list --type config_change,server_change --data-dir data");
    for words in [
        "mcpServers.demo unset -> {",
        "restarted",
        "mcpServers.demo.enabled true -> false",
    ] {
        assert!(records.stdout.contains(words), "{words}: {records}");
    }
    // Another file than that of the running gateway is not changed in its place.
    std::fs::write(folder.path().join("other.json"), "{}").expect("written");
    let line = "servers add x --url http://x.example/ --config other.json --data-dir data";
    let other = folder.countersign(line);
    assert_eq!(other.code, Some(2), "{other}");
    assert!(other.stderr.contains("the running gateway uses"), "{other}");
    assert_eq!(
        std::fs::read_to_string(folder.path().join("other.json")).expect("a file"),
        "{}"
    );
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
}
