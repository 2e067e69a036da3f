//! `PATCH /api/v1/config`: merges, persists, holds; or does none of it and says why. It needs the admin key, and what a
//! program start or a secret depends on stays the file's.

use std::os::unix::fs::PermissionsExt;

use countersign_config::{ApiKey, ConfigLocation, LocationSource, Overrides, Source};
use countersign_gateway::Gateway;
use serde_json::json;

use super::{FileGateway, child};
use crate::support::{ADMIN_KEY, KEY, Rig, refusal, result, text};

async fn following() -> FileGateway {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    FileGateway::over(folder, &servers, &json!({})).await
}

#[tokio::test]
async fn a_patch_merges_persists_and_holds() {
    let following = following().await;
    let rights = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(&following.file, rights).expect("set");
    let call = async || {
        let client = following.rig.client("/mcp/s/x");
        client.call("bad_output", "{}").await.expect("an answer")
    };
    assert!(result(&call().await).contains("structuredContent"));
    let before = following.read();
    let strict = r#"{"mcpServers": {"x": {"output_validation": {"mode": "strict"}}}, "routing_mode": "direct"}"#;
    let (status, said) = following.patch(strict).await;
    assert_eq!(status, 200, "{said}");
    assert_eq!(said["changed"], json!(["routing_mode", "mcpServers.x"]));
    assert!(refusal(&call().await).contains("output schema validation failed"));
    let mut expected = before.clone();
    super::merge(&mut expected, &serde_json::from_str(strict).expect("JSON"));
    assert_eq!(following.read(), expected);
    let mode = std::fs::metadata(&following.file)
        .expect("a file")
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o640);
    let record = following
        .rig
        .activity("type=config_change&status=success")
        .await;
    assert_eq!(record["source"], "api", "{record}");
    assert_eq!(
        record["reason"],
        r#"changed: routing_mode "retrieve_tools" -> "direct", mcpServers.x.output_validation.mode "warn" -> "strict""#
    );

    let (status, said) = following
        .patch(r#"{"mcpServers": {"x": {"output_validation": null}}, "routing_mode": null}"#)
        .await;
    assert_eq!(status, 200, "{said}");
    assert!(result(&call().await).contains("structuredContent"));
    assert_eq!(following.read(), before);
    // The gateway wrote the file itself, so reading it again changes nothing.
    assert_eq!(following.reload().await.1["changed"], json!([]));
    assert_eq!(following.count("server_starts"), 1);
}

#[tokio::test]
async fn a_patch_that_cannot_be_used_leaves_everything_as_it_is() {
    let following = following().await;
    let before = std::fs::read(&following.file).expect("a file");
    let shown = following.rig.get("/api/v1/config").await;
    for (patch, status, error, hint) in [
        (
            r#"{"output_validatoin": {"mode": "strict"}}"#,
            400,
            "/output_validatoin: unknown key \"output_validatoin\"",
            "did you mean \"output_validation\"?",
        ),
        (
            r#"{"mcpServers": {"x": {"output_validation": {"mode": "hard"}}}}"#,
            400,
            "/mcpServers/x/output_validation/mode: unknown value \"hard\"",
            "allowed: off, warn, strict",
        ),
        (
            r#"{"mcpServers": {"y": {"env": {}}}}"#,
            400,
            "/mcpServers/y: ",
            "",
        ),
        (r#"{"routing_mode": "#, 400, "1:18: not JSON", ""),
        (
            "[]",
            400,
            "1:1: the patch is not an object",
            "null removes one",
        ),
        (
            r#"{"api_key": "[redacted]"}"#,
            400,
            "1:13: /api_key: this is how a secret is shown",
            "${env:NAME}",
        ),
        (
            r#"{"storage": {"url": "sqlite:elsewhere"}}"#,
            403,
            "/storage: cannot be changed over the API",
            "change it in the configuration file",
        ),
    ] {
        let (answered, said) = following.patch(patch).await;
        assert_eq!(answered, status, "{patch}: {said}");
        let message = said["error"].as_str().expect("a message");
        assert!(message.starts_with(error), "{patch}: {message}");
        assert!(
            said["hint"].as_str().unwrap_or_default().contains(hint),
            "{patch}: {said}"
        );
        assert_eq!(std::fs::read(&following.file).expect("a file"), before);
    }
    assert_eq!(following.rig.get("/api/v1/config").await, shown);
    assert_eq!(following.count("config_refusals"), 7);
    assert_eq!(following.status().await["errors"], json!([]));
    // The file has been broken meanwhile: there is nothing to merge with.
    std::fs::write(&following.file, "{").expect("written");
    let (status, said) = following.patch(r#"{"routing_mode": "direct"}"#).await;
    assert_eq!(status, 409, "{said}");
    assert!(
        said["error"]
            .as_str()
            .expect("a message")
            .contains("not JSON"),
        "{said}"
    );
}

#[tokio::test]
async fn a_patch_makes_the_file_where_there_was_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("new/c.json");
    let located = ConfigLocation {
        path: Some(file.clone()),
        source: LocationSource::Nowhere,
    };
    let flags = Overrides {
        listen: Some(([127, 0, 0, 1], 0).into()),
        data_dir: Some(folder.path().join("data")),
        api_key: Some(ApiKey::new(KEY)),
        admin_key: Some(ApiKey::new(ADMIN_KEY)),
        ..Overrides::default()
    };
    let opened = Source::from_located(&located, flags)
        .open()
        .expect("the defaults");
    let gateway = Gateway::start(opened).await.expect("the gateway starts");
    let rig = Rig { gateway, folder };
    let following = FileGateway { rig, file };
    // A program cannot be started without a file that allows it.
    let server = json!({"mcpServers": {"x": child(&["--preset", "demo"])}});
    let (status, said) = following.patch(&server.to_string()).await;
    assert_eq!(status, 403, "{said}");
    assert!(!following.file.exists());
    let patch = json!({"routing_mode": "direct", "api_key": null});
    let (status, said) = following.patch(&patch.to_string()).await;
    assert_eq!(status, 200, "{said}");
    assert_eq!(following.read(), json!({"routing_mode": "direct"}));
    assert_eq!(
        following.rig.get("/api/v1/config").await["routing_mode"],
        "direct"
    );
}

/// The key that every MCP client holds must not turn the checks off or start a program.
#[tokio::test]
async fn the_clients_key_reads_everything_and_changes_nothing() {
    let following = following().await;
    let before = std::fs::read(&following.file).expect("a file");
    let shown = following.rig.get("/api/v1/config").await;
    for (method, path, body) in [
        (
            "PATCH",
            "/api/v1/config",
            r#"{"output_validation": {"mode": "off"}}"#,
        ),
        (
            "PATCH",
            "/api/v1/config",
            r#"{"mcpServers": {"y": {"command": "touch"}}}"#,
        ),
        ("POST", "/api/v1/config/reload", ""),
        ("PUT", "/api/v1/config", "{}"),
        ("DELETE", "/api/v1/servers", ""),
    ] {
        let answer = following
            .rig
            .client(path)
            .send(method, body.as_bytes())
            .await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, 403, "{method} {path}");
        let said: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
        let error = said["error"].as_str().expect("a message");
        assert!(error.contains("needs the admin_key"), "{error}");
    }
    assert_eq!(following.count("not_admin"), 5);
    assert_eq!(std::fs::read(&following.file).expect("a file"), before);
    assert_eq!(following.rig.get("/api/v1/config").await, shown);
    for key in ["api_key", "admin_key"] {
        assert_eq!(shown[key], "[redacted]", "{key}");
    }
    for path in [
        "/api/v1/status",
        "/api/v1/servers",
        "/api/v1/tools",
        "/api/v1/activity",
        "/metrics",
    ] {
        let answer = following.rig.client(path).send("GET", b"").await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, 200, "{path}");
        assert!(!text(&answer.body).contains(ADMIN_KEY), "{path}");
    }
    let admin = following
        .rig
        .admin("/mcp/s/x")
        .call("conforming", "{}")
        .await;
    assert!(result(&admin.expect("an answer")).contains("structuredContent"));
}

/// Even the admin key starts no program and reveals no secret over the API, unless the file allows it.
#[tokio::test]
async fn programs_and_secrets_are_not_changed_over_the_api_unless_the_file_allows_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    let closed = json!({"allow_api_commands": false});
    let following = FileGateway::over(folder, &servers, &closed).await;
    let before = std::fs::read(&following.file).expect("a file");
    for (patch, pointer, hint) in [
        (
            r#"{"mcpServers": {"y": {"command": "touch", "args": ["x"]}}}"#,
            "/mcpServers/y/command",
            "allow_api_commands",
        ),
        (
            r#"{"mcpServers": {"x": {"env": {"LD_PRELOAD": "x"}}}}"#,
            "/mcpServers/x/env",
            "allow_api_commands",
        ),
        (
            r#"{"mcpServers": {"z": {"url": "http://127.0.0.1:9/", "headers": {"X": "${env:PATH}"}}}}"#,
            "/mcpServers/z/headers/X",
            "allow_api_commands",
        ),
        (
            r#"{"allow_api_commands": true}"#,
            "/allow_api_commands",
            "configuration file",
        ),
        (
            r#"{"admin_key": "0123456789abcdef"}"#,
            "/admin_key",
            "configuration file",
        ),
    ] {
        let (status, said) = following.patch(patch).await;
        assert_eq!(status, 403, "{patch}: {said}");
        assert_eq!(said["errors"][0]["pointer"], pointer, "{said}");
        assert!(
            said["hint"].as_str().expect("a hint").contains(hint),
            "{said}"
        );
        assert_eq!(std::fs::read(&following.file).expect("a file"), before);
    }
    let refused = following
        .rig
        .activity("type=config_change&status=rejected")
        .await;
    assert_eq!(refused["source"], "api", "{refused}");
    let (status, said) = following
        .patch(r#"{"mcpServers": {"x": {"enabled": false}}}"#)
        .await;
    assert_eq!(status, 200, "{said}");
}

#[tokio::test]
async fn a_record_of_a_change_tells_old_and_new_values_without_secrets() {
    let following = following().await;
    let change =
        json!({"mcpServers": {"x": {"env": {"TOKEN": "s3cret-value"}}}, "call_tool_timeout": "9s"});
    let (status, said) = following.patch(&change.to_string()).await;
    assert_eq!(status, 200, "{said}");
    let record = following
        .rig
        .activity("type=config_change&status=success")
        .await;
    let reason = record["reason"].as_str().expect("a reason");
    assert!(
        reason.starts_with(r#"changed: call_tool_timeout "1m" -> "9s", "#),
        "{reason}"
    );
    assert!(
        reason.contains(r#"mcpServers.x.env.TOKEN unset -> "[redacted]""#),
        "{reason}"
    );
    assert!(!reason.contains("s3cret"), "{reason}");
}

#[tokio::test]
async fn a_patch_needs_the_key_and_a_file() {
    let following = following().await;
    let before = std::fs::read(&following.file).expect("a file");
    for (method, path) in [
        ("PATCH", "/api/v1/config"),
        ("POST", "/api/v1/config/reload"),
    ] {
        let stranger = following.rig.stranger(path);
        let answer = stranger.send(method, br#"{"routing_mode":"direct"}"#).await;
        assert_eq!(answer.expect("an answer").status, 401, "{path}");
        let put = following.rig.admin(path).send("PUT", b"{}").await;
        assert_eq!(put.expect("an answer").status, 405, "{path}");
    }
    assert_eq!(std::fs::read(&following.file).expect("a file"), before);
    let embedded = Rig::over(Vec::new()).await;
    let answer = embedded.admin("/api/v1/config").send("PATCH", b"{}").await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.status, 409);
    assert!(text(&answer.body).contains("not started from a file"));
}
