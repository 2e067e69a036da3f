//! What goes in and comes out: every byte of a result, every form of a request.

use countersign_fixture::client::{call_params, modern_params, notification, request};
use countersign_fixture::{Era, Eras, Script, Tool, preset, span};

use super::{finish, fixture, preset_of, text, wrapped};
use crate::support::Folder;

#[tokio::test]
async fn every_byte_survives() {
    // Cleaning is off: the point is the spelling.
    let off = r#"{"output_sanitisation": {"mode": "off"}}"#;
    for (eras, era) in [(Eras::Legacy, Era::Legacy), (Eras::Modern, Era::Modern)] {
        let script = preset::fidelity().eras(eras);
        let json = text(&script.to_json());
        let folder = Folder::with(&[("s.json", &json), ("c.json", off)]);
        let fixture = fixture();
        let server = [fixture.as_str(), "stdio", "--script", "s.json"];
        let mut client = wrapped(&folder, "--config c.json", &server);
        for tool in &script.tools {
            let params = call_params(&tool.name, "{}");
            let params = match era {
                Era::Legacy => params,
                Era::Modern => modern_params(&params),
            };
            let message = request("\"my id\"", "tools/call", &params);
            client.send(&message).await.expect("sent");
            let answer = client.answer("\"my id\"").await.expect("an answer");
            let result = span::member(&answer, "result").expect("a result");
            let expected = tool.expected_result(era).expect("a result").to_vec();
            assert_eq!(text(result), text(&expected), "{}", tool.name);
        }
        assert_eq!(client.take_notes(), Vec::<Vec<u8>>::new());
        finish(client).await;
    }
}

#[tokio::test]
async fn a_tool_keeps_its_parameters_though_its_input_schema_does_not_compile() {
    let tools = [
        r#"{"name":"look_around","inputSchema":{"type":"object", "properties":{"a":{"pattern":"(?=a)"}}}}"#,
        r#"{"name":"external","inputSchema":{"type":"object","properties":{"a":{"$ref":"https://example.com/a"}}}}"#,
        r#"{"name":"draft_03","inputSchema":{"$schema":"http://json-schema.org/draft-03/schema#","type":"object","properties":{"a":{}}}}"#,
    ];
    let script = tools.iter().fold(Script::new("s"), |script, tool| {
        script.tool(Tool::new(*tool).result(r#"{"content":[]}"#))
    });
    let json = text(&script.to_json());
    let folder = Folder::with(&[("s.json", &json)]);
    let fixture = fixture();
    let server = [fixture.as_str(), "stdio", "--script", "s.json"];
    let mut client = wrapped(&folder, "", &server);
    client.handshake("2025-11-25").await.expect("an answer");
    let legacy = text(&client.request("tools/list", "{}").await.expect("a list"));
    let modern = text(&client.modern("tools/list", "{}").await.expect("a list"));
    for tool in tools {
        assert!(legacy.contains(tool), "{legacy}");
        assert!(modern.contains(tool), "{modern}");
    }
    finish(client).await;
}

#[tokio::test]
async fn names_are_the_servers_own_and_strict_blocks() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "--mode strict --name shop", "demo");
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let hello = client.handshake(version).await.expect("an answer");
        let agreed = span::path(&hello, &["result", "protocolVersion"]).expect("a version");
        assert_eq!(text(agreed), format!("\"{version}\""));
    }
    let listed = text(&client.request("tools/list", "{}").await.expect("a list"));
    for tool in preset::demo().tools {
        assert!(
            listed.contains(&format!(r#""name":"{}""#, tool.name)),
            "{listed}"
        );
    }
    let ping = client.request("ping", "{}").await.expect("an answer");
    assert_eq!(
        span::member(&ping, "result").map(text).as_deref(),
        Some("{}")
    );
    let blocked = text(&client.call("bad_output", "{}").await.expect("an answer"));
    assert!(
        blocked.contains("output schema validation failed") && blocked.contains("shop:bad_output")
    );
    assert!(blocked.contains(r#""isError":true"#), "{blocked}");
    let bad = client.request("no/such", "{}").await.expect("an answer");
    assert_eq!(
        span::path(&bad, &["error", "code"]).map(text).as_deref(),
        Some("-32601")
    );
    for (sent, code) in [("{", "-32700"), ("[]", "-32600")] {
        client.send(sent.as_bytes()).await.expect("sent");
        let refused = client.answer("null").await.expect("an answer");
        assert_eq!(
            span::path(&refused, &["error", "code"])
                .map(text)
                .as_deref(),
            Some(code)
        );
    }
    finish(client).await;
    let records = folder.countersign("activity list --status blocked --data-dir data -o jsonl");
    assert_eq!(records.stdout.lines().count(), 1, "{}", records.stderr);
    assert!(
        records.stdout.contains(r#""tool":"bad_output""#),
        "{}",
        records.stdout
    );
    let mut lenient = preset_of(&folder, "--mode off --name shop", "demo");
    let passed = text(&lenient.call("bad_output", "{}").await.expect("an answer"));
    assert!(passed.contains(r#""structuredContent""#), "{passed}");
    finish(lenient).await;
}

#[tokio::test]
async fn a_modern_client_needs_no_handshake() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "", "faults");
    let found = client
        .modern("server/discover", "{}")
        .await
        .expect("an answer");
    assert!(
        text(&found).contains(r#""supportedVersions":["2026-07-28""#),
        "{}",
        text(&found)
    );
    let called = client.modern("tools/call", &call_params("ok", "{}")).await;
    assert!(text(&called.expect("an answer")).contains(r#""text":"ok""#));
    let listen = modern_params(r#"{"notifications":{"toolsListChanged":true}}"#);
    client
        .send(&request("\"s\"", "subscriptions/listen", &listen))
        .await
        .expect("sent");
    let acknowledged = client.next().await.expect("a line").expect("a message");
    assert!(text(&acknowledged).contains("subscriptions/acknowledged"));
    client
        .modern("tools/call", &call_params("change_list", "{}"))
        .await
        .expect("an answer");
    let news = match client.take_notes().pop() {
        Some(news) => news,
        None => client.next().await.expect("a line").expect("a message"),
    };
    assert!(text(&news).contains("tools/list_changed") && text(&news).contains("subscriptionId"));
    client.close_input();
    let farewell = client.answer("\"s\"").await.expect("an answer");
    assert!(text(&farewell).contains(r#""resultType":"complete""#));
    finish(client).await;
}

#[tokio::test]
async fn the_last_line_needs_no_end() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "", "demo");
    let call = request("\"last\"", "tools/call", &call_params("conforming", "{}"));
    client.send_raw(call.trim_ascii_end()).await.expect("sent");
    client.close_input();
    let answer = text(&client.answer("\"last\"").await.expect("an answer"));
    assert!(answer.contains("structuredContent"), "{answer}");
    finish(client).await;
}

#[tokio::test]
async fn several_messages_in_one_line_are_answered_in_one() {
    let folder = Folder::with(&[]);
    let mut client = preset_of(&folder, "--mode strict", "demo");
    let call = |id: &str, tool: &str| text(&request(id, "tools/call", &call_params(tool, "{}")));
    let ping = text(&request("3", "ping", "{}"));
    let hello = text(&request("4", "initialize", "{}"));
    let note = text(&notification("notifications/roots/list_changed", "{}"));
    let (one, two) = (call("1", "conforming"), call("\"b\"", "bad_output"));
    let parts = [&one, &note, &two, &ping, &hello].map(|part| part.trim());
    let batch = format!("[{}]", parts.join(" , "));
    // Only one version has them.
    client.handshake("2025-06-18").await.expect("an answer");
    client.send(batch.as_bytes()).await.expect("sent");
    let refused = text(&client.answer("null").await.expect("an answer"));
    assert!(refused.contains("not a single message"), "{refused}");
    client.handshake("2025-03-26").await.expect("an answer");
    client.send(batch.as_bytes()).await.expect("sent");
    let answers = client.next().await.expect("a line").expect("answers");
    let answers: serde_json::Value = serde_json::from_slice(&answers).expect("JSON");
    let answers = answers.as_array().expect("several");
    let ids: Vec<String> = answers
        .iter()
        .map(|answer| answer["id"].to_string())
        .collect();
    assert_eq!(ids, ["1", "\"b\"", "3", "4"]);
    assert_eq!(answers[1]["result"]["isError"], true);
    assert_eq!(answers[2]["result"], serde_json::json!({}));
    assert_eq!(answers[3]["error"]["code"], -32600);
    finish(client).await;
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_under_its_own_id() {
    let config = r#"{"max_message_bytes": 65536}"#;
    let folder = Folder::with(&[("c.json", config)]);
    let mut client = preset_of(&folder, "--config c.json", "demo");
    let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(200_000));
    for id in ["\"my \\\"id\"", "17", "-1.5"] {
        let call = request(id, "tools/call", &call_params("conforming", &large));
        client.send(&call).await.expect("sent");
        let refused = text(&client.answer(id).await.expect("an answer"));
        assert!(refused.contains("\"error\""), "{refused}");
    }
    finish(client).await;
}
