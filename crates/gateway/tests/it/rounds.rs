//! Calls in several rounds, as modern servers make them: the server asks in its result, the client
//! answers with its next request. Nothing is held in between.

use countersign_fixture::client::{MODERN_META, request};
use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Body, Eras, Script, Step, Tool};

use countersign_config::{CallerConfig, CallerCredential, CallerRight};
use sha2::{Digest as _, Sha256};

use crate::support::{Rig, error_code, logged_http, received, result, text};

const ASKS: &str = r#"{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?"}}},"requestState":"s \u0041"}"#;
const DONE: &str = r#"{"resultType":"complete","content":[]}"#;

fn script() -> Script {
    let answer = |result: &str| vec![Step::Answer(Answer::result(Body::new(result)))];
    let mut tool = Tool::new(
        r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
    );
    tool.replies = vec![answer(ASKS), answer(DONE)];
    Script::new("x").eras(Eras::Modern).tool(tool)
}

#[tokio::test]
async fn a_server_asks_and_is_answered_through_every_endpoint() {
    for (path, name, arguments) in [
        ("/mcp/s/x", "t", "{}"),
        ("/mcp/all", "x__t", "{}"),
        ("/mcp/call", "call_tool_read", r#"{"name":"x:t"}"#),
    ] {
        let (server, _fixture, mut log) = logged_http("x", script(), Format::Json).await;
        let rig = Rig::over(vec![server]).await;
        let meta = MODERN_META.replace(
            r#"clientCapabilities":{}"#,
            r#"clientCapabilities":{"elicitation":{"form":{}},"extensions":{}}"#,
        );
        let params = |more: &str| {
            format!(r#"{{"name":"{name}","arguments":{arguments}{more},"_meta":{{{meta}}}}}"#)
        };
        let client = rig.client(path).modern_headers("tools/call", &params(""));
        let first = client.post(&request("1", "tools/call", &params(""))).await;
        assert_eq!(
            first
                .expect("an answer")
                .result()
                .map(|it| text(&it))
                .as_deref(),
            Some(ASKS)
        );
        let answers = r#","inputResponses":{"who":{"action":"accept"}},"requestState":"s \u0041""#;
        let second = client
            .post(&request("2", "tools/call", &params(answers)))
            .await;
        assert_eq!(
            second
                .expect("an answer")
                .result()
                .map(|it| text(&it))
                .as_deref(),
            Some(DONE)
        );
        let seen = received(&mut log, |entry| {
            text(entry.body()).contains("inputResponses")
        })
        .await;
        let seen = text(seen.body());
        assert!(seen.contains(answers), "{path}: {seen}");
        assert!(
            seen.contains(r#"clientCapabilities":{"elicitation":{"form":{}}}"#),
            "{seen}"
        );
    }
}

/// A caller whose key is its name.
fn caller(name: &str) -> CallerConfig {
    CallerConfig {
        name: name.to_owned(),
        credential: CallerCredential::Key(Sha256::digest(name).into()),
        groups: Vec::new(),
        rights: vec![CallerRight::Call],
        expires: None,
    }
}

#[tokio::test]
async fn the_state_of_a_call_comes_back_from_its_caller_alone() {
    let (server, _fixture, mut log) = logged_http("x", script(), Format::Json).await;
    let rig = Rig::with(vec![server], |config| {
        config.callers = vec![caller("ada"), caller("bob")];
    })
    .await;
    let params = |more: &str| {
        let meta = MODERN_META.replace(
            r#"clientCapabilities":{}"#,
            r#"clientCapabilities":{"elicitation":{"form":{}}}"#,
        );
        format!(r#"{{"name":"t","arguments":{{}}{more},"_meta":{{{meta}}}}}"#)
    };
    let send = async |key: &str, more: &str| {
        let client = rig.stranger("/mcp/s/x").with_header("X-API-Key", key);
        let client = client.modern_headers("tools/call", &params(""));
        let message = request("1", "tools/call", &params(more));
        client.post(&message).await.expect("an answer")
    };
    let asked = result(&send("ada", "").await);
    let asked: serde_json::Value = serde_json::from_str(&asked).expect("JSON");
    let state = asked["requestState"].as_str().expect("a state");
    assert!(state.ends_with(".s A") && state != "s A", "{state}");
    let answers = |state: &str| {
        let state = serde_json::json!(state);
        format!(r#","inputResponses":{{"who":{{"action":"accept"}}}},"requestState":{state}"#)
    };
    for foreign in [
        send("bob", &answers(state)).await,
        send("ada", &answers("s A")).await,
        send("ada", &answers(&format!("{state}x"))).await,
        send("ada", r#","requestState":7"#).await,
    ] {
        assert_eq!(error_code(&foreign), -32602, "{}", text(&foreign.body));
    }
    let done = send("ada", &answers(state)).await;
    assert_eq!(result(&done), DONE);
    // The server sees its own state, and nothing of the requests that were refused.
    let seen = received(&mut log, |entry| {
        text(entry.body()).contains("inputResponses")
    })
    .await;
    assert!(text(seen.body()).contains(r#""requestState":"s A""#));
}
