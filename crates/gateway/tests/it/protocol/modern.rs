//! The rows of the table that are no requests of clients, in the modern era: a server over HTTP that says what the era does not
//! have, and a client that does.

use std::collections::BTreeMap;

use countersign_fixture::client::{MODERN_META, modern_params, notification, request};
use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Entry, Eras, Script, Step, Tool, preset as presets};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{NOTIFICATIONS_OF_CLIENTS, REQUESTS_OF_SERVERS};
use crate::support::{Rig, logged_http, next_message as next, over_http, received, text};

/// A modern server whose only tool says these messages before it answers.
fn script(messages: &[Value]) -> Script {
    let raw = |message: &Value| RawValue::from_string(message.to_string()).expect("JSON");
    let mut say = Tool::named("say");
    let said = messages.iter().map(|message| Step::Message(raw(message)));
    say.replies = vec![said.chain([Step::Answer(Answer::default())]).collect()];
    let mut script = Script::new("x").eras(Eras::Modern).tool(say);
    let capabilities = json!({"tools": {}, "prompts": {"listChanged": true}, "logging": {}});
    script.capabilities = Some(raw(&capabilities));
    script
}

const SAY: &str = r#"{"name":"say","arguments":{}}"#;

#[tokio::test]
async fn requests_of_modern_servers_are_refused() {
    let ask = |(method, ..): &super::Row| json!({"jsonrpc": "2.0", "id": method, "method": method, "params": {}});
    let questions: Vec<Value> = REQUESTS_OF_SERVERS.iter().map(ask).collect();
    let (server, _fixture, mut log) = logged_http("x", script(&questions), Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    let answer = rig.client("/mcp/s/x").modern("tools/call", SAY).await;
    assert_eq!(answer.expect("an answer").messages().len(), 1);
    let mut answers = BTreeMap::new();
    while answers.len() < questions.len() {
        let is_answer = |entry: &Entry| {
            let message: Value = serde_json::from_slice(entry.body()).unwrap_or_default();
            message.get("method").is_none() && message.get("id").is_some()
        };
        let entry = received(&mut log, is_answer).await;
        let answer: Value = serde_json::from_slice(entry.body()).expect("JSON");
        answers.insert(answer["id"].to_string(), answer);
    }
    for (method, _, in_modern, ..) in REQUESTS_OF_SERVERS {
        let answer = &answers[&json!(method).to_string()];
        match in_modern {
            super::Answered => assert_eq!(answer["result"], json!({}), "{method}"),
            super::Refused => assert_eq!(answer["error"]["code"], -32601, "{method}"),
            super::Relayed => panic!("{method} is not relayed"),
        }
    }
}

#[tokio::test]
async fn what_only_legacy_servers_say_goes_nowhere() {
    let note =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    let said = [
        note("notifications/cancelled", json!({"requestId": 1})),
        note(
            "notifications/elicitation/complete",
            json!({"elicitationId": "e"}),
        ),
        note("notifications/prompts/list_changed", json!({})),
    ];
    let (server, _fixture) = over_http("x", script(&said), Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    let params = r#"{"notifications":{"promptsListChanged":true,"toolsListChanged":true,"resourcesListChanged":true}}"#;
    let listen = request("\"s\"", "subscriptions/listen", &modern_params(params));
    let listening = client.modern_headers("subscriptions/listen", params);
    let mut stream = listening.open("POST", &listen).await.expect("a stream");
    next(&mut stream).await;
    let answer = client.modern("tools/call", SAY).await.expect("an answer");
    assert_eq!(answer.messages().len(), 1, "the answer alone");
    // The first that is heard of the three is the one that the era has.
    let method = next(&mut stream).await["method"].clone();
    assert_eq!(method, "notifications/prompts/list_changed");
}

#[tokio::test]
async fn log_messages_of_a_modern_server_are_heard_if_the_request_asks_for_them() {
    let script = presets::faults().eras(Eras::Modern);
    let (server, _fixture) = over_http("x", script, Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    for (level, messages) in [
        ("", 1),
        (r#","io.modelcontextprotocol/logLevel":"warning""#, 2),
    ] {
        let params =
            format!(r#"{{"name":"log","arguments":{{}},"_meta":{{{MODERN_META}{level}}}}}"#);
        let client = rig.client("/mcp/s/x").modern_headers("tools/call", &params);
        let call = request("1", "tools/call", &params);
        let answer = client.post(&call).await.expect("an answer");
        assert_eq!(answer.messages().len(), messages, "{level}");
    }
}

#[tokio::test]
async fn notifications_of_modern_clients_are_taken_and_go_nowhere() {
    let (server, _fixture, mut log) = logged_http("x", script(&[]), Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    for (method, ..) in NOTIFICATIONS_OF_CLIENTS {
        let params = r#"{"requestId":1,"progressToken":1,"progress":1}"#;
        let client = rig.client("/mcp/s/x").modern_headers(method, params);
        let note = notification(method, &modern_params(params));
        let taken = client.post(&note).await.expect("an answer");
        assert_eq!((taken.status, taken.body.len()), (202, 0), "{method}");
    }
    let client = rig.client("/mcp/s/x");
    client.modern("tools/call", SAY).await.expect("an answer");
    // Everything up to the call.
    let is_call_or_note = |entry: &Entry| {
        let said = text(entry.body());
        said.contains("tools/call") || said.contains("notifications/")
    };
    let first = received(&mut log, is_call_or_note).await;
    assert!(
        text(first.body()).contains("tools/call"),
        "{}",
        text(first.body())
    );
}
