//! Every call leaves a record, also one whose client is gone.

use countersign_fixture::{LogListener, Script, Tool};
use serde_json::Value;

use crate::support::{Rig, WAIT, config, fixture, preset, refusal, result, scripted, strict};

#[tokio::test]
async fn a_client_that_vanishes_leaves_a_record_and_the_server_is_told() {
    let mut log = LogListener::bind().await.expect("a port");
    let target = log.target().expect("an address");
    let server = fixture("x", &["--preset", "faults", "--log", &target]);
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    {
        let call = client.call("never", "{}");
        let sent = log.find(WAIT, |entry| {
            String::from_utf8_lossy(entry.body()).contains("\"never\"")
        });
        // Leaving this block closes the connection.
        tokio::select! {
            _ = call => panic!("the server never answers"),
            sent = sent => assert!(sent.expect("the log").is_some()),
        }
    }
    let record = rig.activity("type=tool_call&tool=never").await;
    assert_eq!(record["status"], "error");
    assert_eq!(record["reason"], "the call was cancelled");
    let told = |entry: &countersign_fixture::Entry| {
        String::from_utf8_lossy(entry.body()).contains("notifications/cancelled")
    };
    assert!(log.find(WAIT, told).await.expect("the log").is_some());
}

#[tokio::test]
async fn a_record_says_who_asked_whom() {
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    let client = rig
        .client("/mcp/s/x")
        .handshake("2025-11-25")
        .await
        .expect("a session");
    client.call("conforming", "{}").await.expect("an answer");
    let record = rig.activity("type=tool_call").await;
    assert_eq!(record["server"], "x");
    assert_eq!(record["tool"], "conforming");
    assert_eq!(record["client"], "fixture");
    assert_eq!(record["caller"], "key:client");
    assert_eq!(record["request_id"], "1");
    assert_eq!(record["status"], "success");
    assert_eq!(record["schema_generation"], 1);
    assert!(record["session_id"].is_string() && record["duration_ms"].is_number());
    assert!(record["schema_digest"].is_string() && record["payload_digest"].is_string());
    assert!(record.get("request").is_none() && record.get("response").is_none());
}

#[tokio::test]
async fn refused_arguments_never_reach_the_server() {
    let tool = Tool::new(r#"{"name":"t","inputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}},"annotations":{"readOnlyHint":true}}"#).result(r#"{"content":[]}"#);
    let (mut server, _folder) = scripted("x", &Script::new("s").tool(tool));
    server.input.mode = Some(countersign_inspect::Mode::Strict);
    let rig = Rig::over(vec![server]).await;
    let refused = rig
        .client("/mcp/s/x")
        .call("t", r#"{"n":"5"}"#)
        .await
        .expect("an answer");
    assert!(
        refusal(&refused).starts_with("input schema validation failed"),
        "{}",
        refusal(&refused)
    );
    let call = rig.activity("type=tool_call").await;
    assert_eq!(call["status"], "rejected");
    let decision = rig.activity("type=policy_decision").await;
    assert_eq!(decision["decision"], "blocked");
    assert_eq!(decision["findings"][0]["stage"], "input");
    assert_eq!(decision["parent_id"], call["id"]);
    let passed = rig
        .client("/mcp/s/x")
        .call("t", r#"{"n":5}"#)
        .await
        .expect("an answer");
    assert!(result(&passed).contains("content"));
}

#[tokio::test]
async fn the_first_call_after_a_restart_is_held_to_the_remembered_contract() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let tool = Tool::with_output_schema("t", schema);
    let script =
        Script::new("s").tool(tool.result(r#"{"content":[],"structuredContent":{"n":"x"}}"#));
    let (server, folder) = scripted("x", &script);
    let rig = Rig::over(vec![strict(server.clone())]).await;
    let home = rig.folder;
    rig.gateway.stop(std::future::pending()).await;

    // This time the server does not list its tools.
    let mut silent = script;
    silent.list.replies = vec![vec![]];
    std::fs::write(folder.path().join("script.json"), silent.to_json()).expect("written");
    let config = config(home.path(), vec![strict(server)]);
    let gateway = countersign_gateway::Gateway::start(config)
        .await
        .expect("starts");
    let rig = Rig {
        gateway,
        folder: home,
    };
    let blocked = rig
        .client("/mcp/s/x")
        .call("t", "{}")
        .await
        .expect("an answer");
    assert!(
        refusal(&blocked).contains("type at /n"),
        "{}",
        refusal(&blocked)
    );
}

#[tokio::test]
async fn payloads_are_kept_only_when_asked_for() {
    let rig = Rig::with(vec![preset("x", "demo")], |config| {
        config.activity.payloads = countersign_audit::Payloads::Full;
    })
    .await;
    rig.client("/mcp/s/x")
        .call("integer", "{}")
        .await
        .expect("an answer");
    let record = rig.activity("type=tool_call").await;
    assert_eq!(
        record["request"]["text"],
        Value::from(r#"{"name":"integer","arguments":{}}"#)
    );
    let response = record["response"]["text"].as_str().expect("kept");
    assert!(response.contains(r#""structuredContent":42"#), "{response}");
}
