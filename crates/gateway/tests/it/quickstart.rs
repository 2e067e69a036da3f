//! The quickstart, as written: both commands, the bare `curl` included.

use countersign_fixture::client::{HttpClient, Response};
use serde_json::Value;

use crate::support::{Rig, preset, refusal, result, strict};

/// What `curl -d` sends: no `Accept` of ours, its own content type, no session, no handshake.
fn curl(client: HttpClient) -> HttpClient {
    client
        .with_header("Accept", "*/*")
        .with_header("Content-Type", "application/x-www-form-urlencoded")
}

async fn call(rig: &Rig, tool: &str) -> Response {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"call_tool_read","arguments":{{"name":"stub:{tool}"}}}}}}"#
    );
    let answer = curl(rig.client("/mcp"))
        .post(body.as_bytes())
        .await
        .expect("an answer");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    answer
}

#[tokio::test]
async fn strict_mode_blocks_and_the_record_says_why() {
    let rig = Rig::over(vec![strict(preset("stub", "demo"))]).await;
    let blocked = refusal(&call(&rig, "bad_output").await);
    let reason = "output schema validation failed: type at /id: expected integer, got string (tool stub:bad_output)";
    assert_eq!(blocked, format!("{reason}; retrying will not help"));

    let found = rig.activities("type=policy_decision&limit=5").await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["tool"], "bad_output");
    assert_eq!(found[0]["decision"], "blocked");
    assert_eq!(found[0]["reason"], reason);
    assert_eq!(found[0]["mode"], "strict");
    assert_eq!(found[0]["findings"][0]["rule"], "schema.type");

    let blocks = rig.activities("status=blocked").await;
    assert_eq!(blocks, found);
    let shown = rig
        .get(&format!(
            "/api/v1/activity/{}",
            found[0]["id"].as_str().expect("an id")
        ))
        .await;
    assert_eq!(shown["reason"], reason);
    let parent = shown["parent_id"].as_str().expect("a call");
    let call = rig.get(&format!("/api/v1/activity/{parent}")).await;
    assert_eq!(
        (&call["type"], &call["status"]),
        (&Value::from("tool_call"), &Value::from("error"))
    );
}

#[tokio::test]
async fn warn_mode_forwards_the_same_bytes_and_records() {
    let rig = Rig::over(vec![preset("stub", "demo")]).await;
    let forwarded = result(&call(&rig, "bad_output").await);
    assert!(
        forwarded.contains(r#""structuredContent":{"id":"42","name":"Ada"}"#),
        "{forwarded}"
    );
    let found = rig.activity("type=policy_decision").await;
    assert_eq!(
        (&found["decision"], &found["mode"]),
        (&Value::from("flagged"), &Value::from("warn"))
    );
}

#[tokio::test]
async fn every_demo_tool_ends_as_the_table_says() {
    let rig = Rig::over(vec![strict(preset("stub", "demo"))]).await;
    for (tool, blocked) in [
        ("conforming", None),
        ("text_only", None),
        ("array", None),
        ("integer", None),
        ("error", None),
        (
            "bad_output",
            Some("output schema validation failed: type at /id"),
        ),
        (
            "too_big",
            Some("output schema validation failed: structured output exceeds max_bytes"),
        ),
        (
            "too_deep",
            Some("output schema validation failed: structured output exceeds max_depth"),
        ),
    ] {
        let answer = call(&rig, tool).await;
        if let Some(reason) = blocked {
            let refused = refusal(&answer);
            assert!(refused.starts_with(reason), "{refused}");
            continue;
        }
        let script = countersign_fixture::preset::demo();
        let expected = script.expected_result(tool, countersign_fixture::Era::Modern);
        let expected = expected.expect("a result");
        assert_eq!(result(&answer), String::from_utf8_lossy(&expected));
    }
    assert_eq!(rig.activities("status=blocked").await.len(), 3);
    assert_eq!(rig.activities("type=tool_call").await.len(), 8);
}

#[tokio::test]
async fn a_router_call_that_leads_nowhere_says_why() {
    let rig = Rig::over(vec![preset("stub", "demo")]).await;
    let client = rig.client("/mcp");
    let unknown = client
        .call("call_tool_read", r#"{"name":"stub:nothing"}"#)
        .await;
    assert_eq!(
        refusal(&unknown.expect("an answer")),
        "there is no such tool: stub:nothing"
    );
    let unusable = client
        .call("call_tool_read", r#"{"name":"stub:conforming","args":[]}"#)
        .await;
    assert_eq!(
        refusal(&unusable.expect("an answer")),
        "the arguments of this call cannot be used"
    );
    let rejected = rig.activities("type=tool_call&status=rejected").await;
    assert_eq!(rejected.len(), 2);
}

#[tokio::test]
async fn a_rejected_router_call_is_recorded_under_the_tool_that_was_asked_for() {
    let rig = Rig::over(vec![preset("stub", "demo")]).await;
    let client = rig.client("/mcp/call");
    let long = "x".repeat(9000);
    let unknown = format!(r#"{{"name":"{long}"}}"#);
    let asked = [
        ("call_tool_write", r#"{"name":"stub:conforming","args":5}"#),
        ("call_tool_read", r#"{"name":"stub:nothing"}"#),
        ("call_tool_read", r#"{"name":"stub:array","args":[]}"#),
        (
            "call_tool_read",
            r#"{"name":"nowhere:\u001b[2J\u202etool"}"#,
        ),
        ("call_tool_read", unknown.as_str()),
        ("call_tool_read", "{}"),
    ];
    for (router, arguments) in asked {
        let answer = client.call(router, arguments).await;
        refusal(&answer.expect("an answer"));
    }
    let mut rejected = rig.activities("type=tool_call&status=rejected").await;
    rejected.reverse();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let recorded: Vec<_> = rejected
        .iter()
        .map(|record| (text(&record["server"]), text(&record["tool"])))
        .collect();
    let stub = Some("stub".to_owned());
    let tool = |name: &str| Some(name.to_owned());
    assert_eq!(
        recorded.get(..4),
        Some(
            &[
                (stub.clone(), tool("conforming")),
                (stub.clone(), tool("nothing")),
                (stub, tool("array")),
                (None, tool(r"nowhere:\u{1b}[2J\u{202e}tool")),
            ][..]
        )
    );
    let shortened = recorded[4].1.as_deref().expect("a name");
    assert!(
        shortened.starts_with("xxx") && shortened.len() <= 256,
        "{shortened}"
    );
    assert_eq!(recorded[5], (None, tool("call_tool_read")));
}
