//! What it shares with others: the configuration file, and the store.

use countersign_fixture::client::StdioClient;
use rustix::process::Signal;

use super::{WAIT, finish, preset_of, text};
use crate::serve::children;
use crate::support::Folder;
use crate::support::gateway::RunningGateway;

#[tokio::test]
async fn what_changes_in_the_file_holds_for_the_next_call() {
    let config = |mode: &str| {
        let x = r#"{"command": "elsewhere", "env": {"A": "1"}}"#;
        format!(r#"{{"output_validation": {{"mode": "{mode}"}}, "mcpServers": {{"x": {x}}}}}"#)
    };
    let folder = Folder::with(&[("c.json", &config("warn"))]);
    let mut client = preset_of(&folder, "--name x --config c.json", "demo");
    client.handshake("2025-11-25").await.expect("an answer");
    let call = async |client: &mut StdioClient| {
        text(&client.call("bad_output", "{}").await.expect("an answer"))
    };
    assert!(call(&mut client).await.contains("structuredContent"));
    // What the server is started with stays, whatever the file says of it.
    let strict = config("strict").replace(r#""A": "1""#, r#""A": "2""#);
    std::fs::write(folder.path().join("c.json"), strict).expect("written");
    let blocked = async {
        while !call(&mut client)
            .await
            .contains("output schema validation failed")
        {}
    };
    let blocked = tokio::time::timeout(WAIT, blocked).await;
    blocked.expect("the change holds");
    let process = client.process().expect("a process");
    assert_eq!(children(process).len(), 1);
    // `wrap` accepts no client over HTTP, so it generates no API key.
    assert!(!folder.path().join("data/api_key").exists());
    finish(client).await;
}

#[tokio::test]
async fn its_data_directory_is_closed_to_other_users() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "--name x", "demo");
    client.call("conforming", "{}").await.expect("an answer");
    finish(client).await;
    let data = folder.path().join("data");
    let mode = |path: &std::path::Path| {
        let metadata = std::fs::metadata(path).expect("it is there");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(&data), 0o700);
    assert!(data.join("activity.db").exists());
    for entry in std::fs::read_dir(&data).expect("a folder") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn several_processes_share_one_store() {
    let folder = Folder::over(
        &serde_json::json!({"x": crate::support::preset("demo", "warn")}),
        &[],
    );
    let gateway = RunningGateway::start(&folder, "serve --config c.json");
    gateway.all_up(1);
    let mut clients = [
        preset_of(&folder, "--name one", "demo"),
        preset_of(&folder, "--name two", "demo"),
    ];
    for _ in 0..5 {
        for client in &mut clients {
            client.call("conforming", "{}").await.expect("an answer");
        }
        let call =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"conforming"}}"#;
        let answer = gateway.curl("POST", "/mcp/s/x", &gateway.key(), call);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    for client in clients {
        finish(client).await;
    }
    assert_eq!(gateway.stop(Signal::TERM).code, Some(0));
    for server in ["one", "two", "x"] {
        let line =
            format!("activity list --type tool_call --server {server} --data-dir data -o jsonl");
        let listed = folder.countersign(&line);
        assert_eq!(
            listed.stdout.lines().count(),
            5,
            "{server}: {}",
            listed.stderr
        );
    }
    let verified = folder.countersign("activity verify --data-dir data");
    assert_eq!(verified.code, Some(0), "{verified}");
    assert!(verified.stdout.contains("3 chains"), "{verified}");
}
