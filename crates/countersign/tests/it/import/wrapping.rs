//! `import --wrap` and `--unwrap`: a client's own file, changed and restored.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use countersign_fixture::client::StdioClient;
use insta::assert_snapshot;
use serde_json::Value;

use crate::support::home::{TestHome, fixture};

/// A client's file as a person keeps it: comments, its own spacing, a server over HTTP, a secret.
fn kept_file() -> String {
    format!(
        "{{\n  // by hand\n  \"mcpServers\": {{\n    \"demo\": {{ \"command\": \"{}\", \"args\": [ \"stdio\",\n      \"--preset\", \"demo\", ], \"env\": {{\"K\": \"s3cret\"}} }},\n    \"plain\": {{\"command\":\"true\"}},\n    \"far\": {{\"url\": \"https://far.example\"}}\n  }}\n}}\n",
        fixture()
    )
}

#[tokio::test]
async fn a_wrapped_client_file_works_and_can_be_restored_to_the_byte() {
    let original = kept_file();
    let home = TestHome::with(&[(".cursor/mcp.json", &original)]);
    let backup = ".cursor/mcp.json.countersign-backup";
    assert_snapshot!(home.run("import --wrap cursor"), @"
    exit: 0
    --- stdout
    ~/.cursor/mcp.json
      wrap        demo
      wrap        plain
      left alone  far    it is reached over HTTP: `countersign import` puts it behind `countersign serve`
    --- stderr
    would write ~/.cursor/mcp.json; the file as it was: ~/.cursor/mcp.json.countersign-backup
    hint: nothing is written yet; --yes does it
    ");
    assert_eq!(home.read(".cursor/mcp.json"), original, "a preview");
    assert!(!home.has(backup));

    let ran = home.run("import --wrap cursor --yes");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert_eq!(home.read(backup), original);
    let wrapped = home.read(".cursor/mcp.json");
    assert!(
        wrapped.contains("// by hand") && wrapped.contains(r#""env": {"K": "s3cret"}"#),
        "{wrapped}"
    );

    // As the client starts it.
    let json = wrapped
        .replace("  // by hand\n", "")
        .replace("\"demo\", ]", "\"demo\"]");
    let config: Value = serde_json::from_str(&json).expect("JSON");
    let demo = &config["mcpServers"]["demo"];
    let mut command = Command::new(demo["command"].as_str().expect("a command"));
    assert!(Path::new(demo["command"].as_str().expect("a command")).is_absolute());
    command.args(
        demo["args"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_str),
    );
    command
        .env_clear()
        .env("HOME", home.path())
        .env("K", "s3cret");
    let mut client = StdioClient::spawn(command, Duration::from_mins(1)).expect("it starts");
    client.handshake("2025-06-18").await.expect("an answer");
    let answer = client
        .call("control_tokens", "{}")
        .await
        .expect("an answer");
    assert!(
        !String::from_utf8_lossy(&answer).contains("<|im_start|>"),
        "it was cleaned"
    );
    client.close_input();
    let status = client.ended().await.expect("it ends");
    assert!(status.success());
    let listed = home.run("activity list --server demo -o jsonl");
    assert!(
        listed.stdout.contains(r#""tool":"control_tokens""#),
        "{listed}"
    );

    let again = home.run("import --wrap cursor --yes");
    assert!(
        again.stdout.contains("already wrapped") && again.stderr.contains("nothing to wrap"),
        "{again}"
    );
    assert_eq!(home.read(".cursor/mcp.json"), wrapped);
    // Imported, it is the server itself and not the wrapping.
    let imported = home.run("import cursor -o json");
    assert!(
        imported.stdout.contains(r#""what":"true""#) && !imported.stdout.contains("wrap"),
        "{imported}"
    );

    let ran = home.run("import --unwrap cursor --yes");
    assert!(ran.stderr.contains("exactly as it was before"), "{ran}");
    assert_eq!(home.read(".cursor/mcp.json"), original);
    assert!(!home.has(backup));
    let ran = home.run("import --unwrap cursor --yes");
    assert!(ran.stderr.contains("nothing is wrapped"), "{ran}");
}

#[test]
fn a_file_that_changed_keeps_its_changes_and_a_broken_one_its_backup() {
    let original = kept_file();
    let home = TestHome::with(&[("mcp.json", &original)]);
    assert_eq!(home.run("import --wrap mcp.json --yes").code, Some(0));
    let wrapped = home.read("mcp.json");
    home.write(
        "mcp.json",
        &wrapped.replace("// by hand", "// by two hands"),
    );
    let ran = home.run("import --unwrap mcp.json --yes");
    assert!(ran.stderr.contains("keeps the changes"), "{ran}");
    assert_eq!(
        home.read("mcp.json"),
        original.replace("// by hand", "// by two hands")
    );
    assert_eq!(home.read("mcp.json.countersign-backup"), original);

    home.write("mcp.json", wrapped.get(..wrapped.len() - 4).expect("ASCII"));
    let ran = home.run("import --unwrap mcp.json --yes");
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(
        ran.stderr
            .contains("hint: the file as it was is in mcp.json.countersign-backup"),
        "{ran}"
    );
}
