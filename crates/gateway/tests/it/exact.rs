//! Exact bytes, whichever way a client takes to a server: its own endpoint, all servers' tools, and
//! the router. Nothing but the id differs from what the server wrote.

use countersign_config::Server;
use countersign_fixture::client::{HttpClient, call_params, modern_params, request};
use countersign_fixture::http::Format;
use countersign_fixture::{Era, Eras, Script, preset, span};
use countersign_inspect::config::SanitiseMode;
use serde_json::{Value, json};

use crate::support::{FOREIGN, Rig, over_http, scripted, text};

const ID: &str = r#""my id""#;

/// How a client calls a tool: the endpoint, and the name and the arguments.
struct ToolPath {
    path: &'static str,
    name: String,
    arguments: String,
}

/// Every path to a tool, as the gateway itself describes it.
fn tool_paths(tool: &Value) -> [ToolPath; 3] {
    let word = |name: &str| tool[name].as_str().expect("a word").to_owned();
    let own = format!("{}:{}", word("server"), word("tool"));
    let direct = |path, name| ToolPath {
        path,
        name,
        arguments: "{}".to_owned(),
    };
    [
        direct("/mcp/s/x", word("tool")),
        direct("/mcp/all", word("wire_name")),
        ToolPath {
            path: "/mcp/call",
            name: word("router"),
            arguments: json!({ "name": own }).to_string(),
        },
    ]
}

async fn call(client: &HttpClient, path: &ToolPath, era: Era) -> Vec<u8> {
    let params = call_params(&path.name, &path.arguments);
    let answer = match era {
        Era::Legacy => client.post(&request(ID, "tools/call", &params)).await,
        Era::Modern => {
            let client = client.modern_headers("tools/call", &params);
            client
                .post(&request(ID, "tools/call", &modern_params(&params)))
                .await
        }
    };
    let answer = answer.expect("an answer");
    assert_eq!(answer.status, 200, "{}", path.name);
    answer.body
}

/// A message without its id.
fn without_id(message: &[u8]) -> String {
    let id = span::member(message, "id").expect("an id");
    assert_eq!(text(id), ID);
    let at = id.as_ptr().addr() - message.as_ptr().addr();
    text(&[&message[..at], b"ID", &message[at + id.len()..]].concat())
}

async fn unchanged(mut server: Server, script: &Script, era: Era) {
    // Its text has control characters, which cleaning replaces; here their spelling is the point.
    let odd = server.tools.entry("odd_escapes".to_owned()).or_default();
    odd.sanitisation.mode = Some(SanitiseMode::Off);
    let rig = Rig::over(vec![server]).await;
    let tools = rig.get("/api/v1/tools").await;
    let tools = tools["tools"].as_array().expect("a list");
    assert_eq!(tools.len(), script.tools.len());
    for (tool, declared) in tools.iter().zip(&script.tools) {
        let expected = declared
            .expected_message("ID", era)
            .expect("a result")
            .to_vec();
        for path in tool_paths(tool) {
            let seen = call(&rig.client(path.path), &path, era).await;
            assert_eq!(
                without_id(&seen),
                text(expected.trim_ascii()).replace(FOREIGN, ""),
                "{} {}",
                path.path,
                path.name
            );
        }
    }
}

#[tokio::test]
async fn a_modern_client_sees_the_bytes_of_a_modern_server_on_every_way() {
    let script = preset::fidelity().eras(Eras::Modern);
    let (server, _folder) = scripted("x", &script);
    unchanged(server, &script, Era::Modern).await;
}

#[tokio::test]
async fn a_client_that_negotiated_nothing_sees_the_bytes_of_a_legacy_server_on_every_way() {
    let script = preset::fidelity().eras(Eras::Legacy);
    let (server, _folder) = scripted("x", &script);
    unchanged(server, &script, Era::Legacy).await;
}

#[tokio::test]
async fn every_way_keeps_the_bytes_of_a_server_over_http() {
    for (eras, era) in [(Eras::Modern, Era::Modern), (Eras::Legacy, Era::Legacy)] {
        for format in [Format::Json, Format::Sse] {
            let script = preset::fidelity().eras(eras);
            let (server, _fixture) = over_http("x", script.clone(), format).await;
            unchanged(server, &script, era).await;
        }
    }
}

#[tokio::test]
async fn listed_tools_keep_their_bytes_but_for_the_name() {
    let script = preset::fidelity();
    let (server, _folder) = scripted("x", &script);
    let rig = Rig::over(vec![server]).await;
    for name in [
        "unknown_members",
        "odd_tool_bytes",
        "array_root",
        "draft_07_tuple",
    ] {
        let tool = text(&script.find(name).expect("a tool").json.to_vec());
        let renamed = tool.replacen(&format!("\"{name}\""), &format!("\"x__{name}\""), 1);
        for (path, expected) in [("/mcp/s/x", &tool), ("/mcp/all", &renamed)] {
            let list = rig
                .client(path)
                .modern("tools/list", "{}")
                .await
                .expect("an answer");
            assert!(text(&list.body).contains(expected), "{path} {name}");
        }
    }
}

#[tokio::test]
async fn legacy_clients_get_lists_they_can_read_and_arrays_as_text() {
    let (server, _folder) = scripted("x", &preset::fidelity());
    let rig = Rig::over(vec![server]).await;
    let tools = rig.get("/api/v1/tools").await;
    let tools = tools["tools"].as_array().expect("a list");
    let array = tools.iter().find(|tool| tool["tool"] == "array_structured");
    for path in tool_paths(array.expect("a tool")) {
        let client = rig
            .client(path.path)
            .handshake("2025-11-25")
            .await
            .expect("a session");
        let seen = call(&client, &path, Era::Legacy).await;
        let seen = span::member(&seen, "result").map(text);
        let expected = r#"{"content":[{"type":"text","text":"[1.0, 2]"}]}"#;
        assert_eq!(seen.as_deref(), Some(expected), "{}", path.path);
        let list = client.request("tools/list", "{}").await.expect("an answer");
        let list: Value = serde_json::from_slice(&list.body).expect("JSON");
        for tool in list["result"]["tools"].as_array().expect("a list") {
            let output = tool.get("outputSchema");
            assert!(
                output.is_none_or(|schema| schema["type"] == "object"),
                "{tool}"
            );
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        }
    }
}
