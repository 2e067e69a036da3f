//! Servers that are added, removed, enabled, disabled and restarted over the REST interface.

use countersign_fixture::LogListener;
use serde_json::{Value, json};

use super::servers::{gone, is_call, names, slow};
use super::{FileGateway, child, scripted};
use crate::support::{WAIT, result};

impl FileGateway {
    fn file_text(&self) -> String {
        std::fs::read_to_string(&self.file).expect("a file")
    }
}

fn named(name: &str, mut server: Value) -> String {
    server["name"] = name.into();
    server.to_string()
}

#[tokio::test]
async fn a_server_is_added_disabled_enabled_and_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"stays": child(&["--preset", "demo"])});
    let following = FileGateway::over(folder, &servers, &json!({})).await;
    let rig = &following.rig;
    let before = following.file_text();
    let new = named("new", child(&["--preset", "demo"]));
    let (status, said) = following.send("POST", "/api/v1/servers", &new).await;
    assert_eq!(
        (status, &said["changed"]),
        (200, &json!(["mcpServers.new"]))
    );
    rig.gateway.settled().await;
    let tool = "new__conforming".to_owned();
    assert!(names(rig, "/mcp/all").await.contains(&tool));
    assert_eq!(rig.get("/api/v1/servers/new").await["state"], "up");
    // Everything that was in the file is there as it was written.
    let after = following.file_text();
    let at = after.find(r#","new": {"#).expect("the new server");
    assert!(before.starts_with(&after[..at]), "{after}");

    let (status, _) = following
        .send("POST", "/api/v1/servers/new/disable", "")
        .await;
    assert_eq!(status, 200);
    assert!(!names(rig, "/mcp/all").await.contains(&tool));
    assert_eq!(following.read()["mcpServers"]["new"]["enabled"], false);
    let (status, said) = following
        .send("POST", "/api/v1/servers/new/restart", "")
        .await;
    assert_eq!(status, 409, "{said}");
    let (status, _) = following
        .send("POST", "/api/v1/servers/new/enable", "")
        .await;
    assert_eq!(status, 200);
    rig.gateway.settled().await;
    assert!(names(rig, "/mcp/all").await.contains(&tool));
    let (status, said) = following.send("DELETE", "/api/v1/servers/new", "").await;
    assert_eq!(
        (status, &said["changed"]),
        (200, &json!(["mcpServers.new"]))
    );
    assert_eq!(following.file_text(), before);
    assert!(!names(rig, "/mcp/s/stays").await.is_empty());
    assert_eq!(
        rig.client("/mcp/s/new")
            .call("conforming", "{}")
            .await
            .expect("an answer")
            .status,
        404
    );

    let changes = rig.activities("type=config_change").await;
    let reasons: Vec<_> = changes
        .iter()
        .map(|record| record["reason"].as_str().expect("a reason"))
        .collect();
    assert!(
        reasons[0].starts_with("changed: mcpServers.new {"),
        "{reasons:?}"
    );
    assert_eq!(reasons[1], "changed: mcpServers.new.enabled false -> true");
    assert_eq!(reasons[2], "changed: mcpServers.new.enabled true -> false");
    assert!(
        reasons[3].starts_with("changed: mcpServers.new unset -> {"),
        "{reasons:?}"
    );
    assert!(changes.iter().all(|record| record["source"] == "api"));
}

#[tokio::test]
async fn a_restart_lets_the_calls_under_way_finish() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut log = LogListener::bind().await.expect("a port");
    let server = scripted(folder.path(), "x", &slow("x"), Some(&log));
    let following = FileGateway::over(folder, &json!({ "x": server }), &json!({})).await;
    let rig = &following.rig;
    let client = rig.client("/mcp/s/x");
    let before = following.file_text();
    let call = client.call("x", "{}");
    let restart = async {
        log.find(WAIT, is_call).await.expect("the log");
        let (status, said) = following
            .send("POST", "/api/v1/servers/x/restart", "")
            .await;
        assert_eq!(status, 200, "{said}");
    };
    let (answer, ()) = tokio::join!(call, restart);
    assert!(result(&answer.expect("an answer")).contains("content"));
    gone(&mut log).await;
    rig.counted("server_starts", 2).await;
    let answer = client.call("x", "{}").await.expect("an answer");
    assert!(result(&answer).contains("content"));
    assert_eq!(following.count("server_losses"), 0);
    assert_eq!(following.file_text(), before);
    let record = rig.activity("type=server_change").await;
    assert_eq!(
        (&record["server"], &record["reason"]),
        (&json!("x"), &json!("restarted"))
    );
    assert_eq!(
        (&record["status"], &record["source"]),
        (&json!("success"), &json!("api"))
    );
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    let closed = json!({"allow_api_commands": false});
    let following = FileGateway::over(folder, &servers, &closed).await;
    let before = following.file_text();
    let program = named("y", child(&["--preset", "demo"]));
    let secret = r#"{"name": "y", "url": "https://x.example/", "headers": {"A": "${env:PATH}"}}"#;
    for (method, path, body, expected, words) in [
        (
            "POST",
            "",
            program.as_str(),
            403,
            "which programs are started",
        ),
        ("POST", "", secret, 403, "where secrets are sent"),
        ("POST", "", "{}", 400, "needs a \"name\""),
        ("POST", "", "[", 400, "not JSON"),
        ("POST", "", r#"{"name": "y"}"#, 400, "command"),
        ("POST", "", r#"{"name": "y", "url": "no"}"#, 400, "address"),
        (
            "POST",
            "",
            r#"{"name": "y", "url": "http://x.example/", "timeuot": "1s"}"#,
            400,
            "timeuot",
        ),
        (
            "POST",
            "",
            r#"{"name": "x", "url": "http://x.example/"}"#,
            409,
            "already",
        ),
        (
            "POST",
            "",
            r#"{"name": "../x", "url": "http://x.example/"}"#,
            400,
            "cannot be the name",
        ),
        ("DELETE", "/z", "", 404, "no server named"),
        ("POST", "/z/enable", "", 404, "no server named"),
        ("POST", "/z/restart", "", 404, "no server named"),
    ] {
        let path = format!("/api/v1/servers{path}");
        let (status, said) = following.send(method, &path, body).await;
        assert_eq!(status, expected, "{body}: {said}");
        let message = said["error"].as_str().expect("a message");
        assert!(message.contains(words), "{body}: {said}");
        assert!(said["hint"].is_string(), "{body}: {said}");
        assert_eq!(following.file_text(), before, "{body}");
    }
    // The clients' key opens none of it.
    for (method, path) in [
        ("POST", ""),
        ("DELETE", "/x"),
        ("POST", "/x/disable"),
        ("POST", "/x/restart"),
    ] {
        let client = following.rig.client(&format!("/api/v1/servers{path}"));
        let answer = client.send(method, b"").await.expect("an answer");
        assert_eq!(answer.status, 403, "{method} {path}");
    }
    assert_eq!(following.file_text(), before);
    assert_eq!(following.count("server_starts"), 1);
}
