//! Exact bytes: what a server says is what the client gets, with nothing but the id changed and members that JSON-RPC
//! does not know cut from the top level.

use countersign_config::Server;
use countersign_fixture::client::{HttpClient, Response, call_params, modern_params, request};
use countersign_fixture::http::Format;
use countersign_fixture::{Era, Eras, Script, preset, span};

use crate::support::{FOREIGN, Rig, over_http, result, scripted, text, unsanitised};

/// The answer without its id, which is ours to replace, and the id.
fn without_id(message: &[u8]) -> (String, String) {
    let id = span::member(message, "id").expect("an id");
    let at = id.as_ptr().addr() - message.as_ptr().addr();
    let rest = [&message[..at], b"ID", &message[at + id.len()..]].concat();
    (text(&rest), text(id))
}

async fn call(client: &HttpClient, tool: &str, era: Era) -> Response {
    let params = call_params(tool, "{}");
    let id = r#""my id""#;
    let answer = match era {
        Era::Legacy => client.post(&request(id, "tools/call", &params)).await,
        Era::Modern => {
            let client = client.modern_headers("tools/call", &params);
            client
                .post(&request(id, "tools/call", &modern_params(&params)))
                .await
        }
    };
    answer.expect("an answer")
}

/// Calls every tool of the preset and compares whole messages.
async fn all_unchanged(server: Server, script: Script, upstream: Era, client_era: Era) {
    let rig = Rig::over(vec![unsanitised(server)]).await;
    let client = rig.client("/mcp/s/x");
    for tool in &script.tools {
        let answer = call(&client, &tool.name, client_era).await;
        assert_eq!(answer.status, 200, "{}", tool.name);
        let expected = tool
            .expected_message("ID", upstream)
            .expect("a result")
            .to_vec();
        // The white space around a message is not part of it.
        let expected = text(expected.trim_ascii()).replace(FOREIGN, "");
        let (seen, id) = without_id(&answer.body);
        assert_eq!(seen, expected, "{}", tool.name);
        assert_eq!(id, r#""my id""#, "{}", tool.name);
    }
    let decisions = rig.activities("type=policy_decision").await;
    let rules: Vec<_> = decisions
        .iter()
        .map(|found| found["tool"].clone())
        .collect();
    // The one declared schema that refers elsewhere is the one finding; it never changes a byte.
    assert_eq!(rules, ["external_ref"]);
}

#[tokio::test]
async fn a_modern_client_sees_every_byte_of_a_modern_server() {
    let script = preset::fidelity().eras(Eras::Modern);
    let (server, _folder) = scripted("x", &script);
    all_unchanged(server, script, Era::Modern, Era::Modern).await;
}

#[tokio::test]
async fn a_client_that_negotiated_nothing_sees_every_byte_of_a_legacy_server() {
    let script = preset::fidelity().eras(Eras::Legacy);
    let (server, _folder) = scripted("x", &script);
    all_unchanged(server, script, Era::Legacy, Era::Legacy).await;
}

#[tokio::test]
async fn every_byte_survives_http_in_json() {
    for (eras, era) in [(Eras::Modern, Era::Modern), (Eras::Legacy, Era::Legacy)] {
        let script = preset::fidelity_http().eras(eras);
        let (server, _fixture) = over_http("x", script.clone(), Format::Json).await;
        all_unchanged(server, script, era, era).await;
    }
}

#[tokio::test]
async fn every_byte_survives_http_in_events() {
    for (eras, era) in [(Eras::Modern, Era::Modern), (Eras::Legacy, Era::Legacy)] {
        let mut script = preset::fidelity_http().eras(eras);
        // A carriage return ends a line of an event: the server itself cannot send one.
        script.tools.retain(|tool| tool.name != "carriage_returns");
        let (server, _fixture) = over_http("x", script.clone(), Format::Sse).await;
        all_unchanged(server, script, era, era).await;
    }
}

#[tokio::test]
async fn arguments_arrive_as_they_were_sent() {
    let rig = Rig::over(vec![crate::support::preset("x", "faults")]).await;
    let arguments = "{\"n\":12345678901234567890, \"f\": 1.0,\n\t\"z\":-0.0,\"e\":1E2,\"s\":\"a\\u002fb\\n c\"}";
    let one_line = r#"{"n":12345678901234567890,"f":1.0,"z":-0.0,"e":1E2,"s":"a\u002fb\n c"}"#;
    let answer = rig
        .client("/mcp/s/x")
        .call("echo", arguments)
        .await
        .expect("an answer");
    let echoed = span::path(&answer.body, &["result", "structuredContent"]).expect("an echo");
    assert_eq!(text(echoed), one_line);

    let spaced = r#"{"n":12345678901234567890, "f": 1.0}"#;
    for (path, tool, given) in [
        ("/mcp/all", "x__echo", spaced.to_owned()),
        (
            "/mcp/call",
            "call_tool_read",
            format!(r#"{{"name":"x:echo","args":{spaced}}}"#),
        ),
        (
            "/mcp",
            "call_tool_read",
            r#"{"args_json":"{\"n\":12345678901234567890, \"f\": 1.0}","name":"x:echo"}"#
                .to_owned(),
        ),
    ] {
        let answer = rig
            .client(path)
            .call(tool, &given)
            .await
            .expect("an answer");
        let echoed = span::path(&answer.body, &["result", "structuredContent"]);
        assert_eq!(
            text(echoed.unwrap_or_else(|| panic!("{}", result(&answer)))),
            spaced,
            "{path}"
        );
    }
}

#[tokio::test]
async fn legacy_clients_get_what_they_can_read() {
    let (server, _folder) = scripted("x", &preset::fidelity());
    let rig = Rig::over(vec![server]).await;
    let client = rig
        .client("/mcp/s/x")
        .handshake("2025-06-18")
        .await
        .expect("a session");
    let array = client
        .call("array_structured", "{}")
        .await
        .expect("an answer");
    assert_eq!(
        result(&array),
        r#"{"content":[{"type":"text","text":"[1.0, 2]"}]}"#
    );
    let object = client.call("key_order", "{}").await.expect("an answer");
    assert!(result(&object).contains(r#""zebra": 1"#) || result(&object).contains(r#""zebra":1"#));
    assert!(
        !result(&object).contains("resultType"),
        "{}",
        result(&object)
    );
}
