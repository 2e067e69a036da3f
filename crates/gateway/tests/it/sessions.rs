//! The two eras of clients: legacy sessions, modern requests that say everything themselves.

use countersign_fixture::client::{call_params, modern_params, notification, request};
use countersign_fixture::{Script, Tool};
use serde_json::Value;

use crate::support::{Rig, WAIT, error_code, fixture, preset, refusal, result, scripted};

async fn rig() -> Rig {
    Rig::over(vec![preset("x", "faults")]).await
}

#[tokio::test]
async fn a_session_lives_from_initialize_to_delete() {
    let rig = rig().await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = rig
            .client("/mcp/s/x")
            .handshake(version)
            .await
            .expect("a session");
        let pong = client.request("ping", "{}").await.expect("an answer");
        assert_eq!((pong.status, result(&pong).as_str()), (200, "{}"));
        let answer = client.call("ok", "{}").await.expect("an answer");
        assert_eq!(
            result(&answer),
            r#"{"content":[{"type":"text","text":"ok"}]}"#
        );
        assert_eq!(
            client.send("DELETE", b"").await.expect("an answer").status,
            200
        );
        let gone = client.call("ok", "{}").await.expect("an answer");
        assert_eq!((gone.status, error_code(&gone)), (404, -32600));
        assert_eq!(
            client.send("DELETE", b"").await.expect("an answer").status,
            404
        );
    }
}

#[tokio::test]
async fn initialize_says_who_we_are_and_what_we_can() {
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    let params = countersign_fixture::client::initialize_params("1999-01-01");
    let answer = rig
        .client("/mcp/s/x")
        .request("initialize", &params)
        .await
        .expect("an answer");
    let session = answer.header("mcp-session-id").expect("a session");
    assert!(session.len() > 32 && session.bytes().all(|byte| byte.is_ascii_graphic()));
    let value: Value = serde_json::from_str(&result(&answer)).expect("JSON");
    assert_eq!(value["protocolVersion"], "2025-11-25");
    assert_eq!(value["serverInfo"]["name"], "countersign");
    assert_eq!(
        value["capabilities"]["tools"],
        serde_json::json!({"listChanged": true})
    );
    let instructions = value["instructions"]
        .as_str()
        .expect("the server's own words");
    assert!(instructions.starts_with("A demonstration server."));
}

#[tokio::test]
async fn a_call_that_is_cancelled_in_its_session_has_no_answer_and_a_record() {
    let mut log = countersign_fixture::LogListener::bind()
        .await
        .expect("a port");
    let target = log.target().expect("an address");
    let server = fixture("x", &["--preset", "faults", "--log", &target]);
    let rig = Rig::over(vec![server]).await;
    for (number, accept) in ["application/json, text/event-stream", "application/json"]
        .into_iter()
        .enumerate()
    {
        let client = rig.client("/mcp/s/x").handshake("2025-06-18").await;
        let client = client.expect("a session").with_header("Accept", accept);
        let call = request("\"c\"", "tools/call", &call_params("never", "{}"));
        let cancel = async {
            let said = |what: &'static str| {
                move |entry: &countersign_fixture::Entry| {
                    String::from_utf8_lossy(entry.body()).contains(what)
                }
            };
            log.find(WAIT, said("\"never\"")).await.expect("the log");
            let twice = client.post(&call).await.expect("an answer");
            assert_eq!((twice.status, error_code(&twice)), (400, -32600));
            let params = r#"{"requestId":"c","reason":"too \u0073low"}"#;
            let note = notification("notifications/cancelled", params);
            let accepted = client.post(&note).await.expect("an answer");
            assert_eq!((accepted.status, accepted.body.len()), (202, 0));
            // The server is told too, with the reason as the client wrote it.
            let told = log.find(WAIT, said("notifications/cancelled")).await;
            let told = told.expect("the log").expect("an entry");
            let told = String::from_utf8_lossy(told.body()).into_owned();
            assert!(told.contains(r#","reason":"too \u0073low"}}"#), "{told}");
        };
        let (answer, ()) = tokio::join!(client.post(&call), cancel);
        let answer = answer.expect("the request ends");
        assert_eq!((answer.status, answer.body.len()), (202, 0), "{accept}");
        let records = rig.activities("type=tool_call&tool=never").await;
        assert_eq!(records.len(), number + 1);
        assert_eq!(records[0]["reason"], "the call was cancelled");
        // The session goes on, and the id may be used again.
        let again = request("\"c\"", "tools/call", &call_params("ok", "{}"));
        let again = client.post(&again).await.expect("an answer");
        assert!(result(&again).contains(r#""text":"ok""#));
    }
}

#[tokio::test]
async fn the_end_of_a_session_answers_what_is_under_way() {
    let mut log = countersign_fixture::LogListener::bind()
        .await
        .expect("a port");
    let target = log.target().expect("an address");
    let server = fixture("x", &["--preset", "faults", "--log", &target]);
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x").handshake("2025-06-18").await;
    let client = client.expect("a session");
    let end = async {
        let sent = |entry: &countersign_fixture::Entry| {
            String::from_utf8_lossy(entry.body()).contains("\"never\"")
        };
        log.find(WAIT, sent).await.expect("the log");
        let ended = client.send("DELETE", b"").await.expect("an answer");
        assert_eq!(ended.status, 200);
    };
    let (answer, ()) = tokio::join!(client.call("never", "{}"), end);
    assert_eq!(
        refusal(&answer.expect("an answer")),
        "the call was cancelled"
    );
}

#[tokio::test]
async fn a_modern_request_needs_no_session() {
    let rig = rig().await;
    let client = rig.client("/mcp/s/x");
    let answer = client
        .modern("tools/call", &call_params("ok", "{}"))
        .await
        .expect("an answer");
    assert_eq!(
        result(&answer),
        r#"{"resultType":"complete","content":[{"type":"text","text":"ok"}]}"#
    );
    let found = client
        .modern("server/discover", "{}")
        .await
        .expect("an answer");
    let value: Value = serde_json::from_str(&result(&found)).expect("JSON");
    assert_eq!(value["supportedVersions"][0], "2026-07-28");
    assert_eq!(
        (&value["ttlMs"], &value["cacheScope"]),
        (&Value::from(0), &Value::from("private"))
    );
    let list = client.modern("tools/list", "{}").await.expect("an answer");
    let value: Value = serde_json::from_str(&result(&list)).expect("JSON");
    assert_eq!(
        (&value["resultType"], &value["ttlMs"]),
        (&Value::from("complete"), &Value::from(0))
    );
    for removed in ["ping", "initialize", "logging/setLevel"] {
        let answer = client.modern(removed, "{}").await.expect("an answer");
        assert_eq!(
            (answer.status, error_code(&answer)),
            (404, -32601),
            "{removed}"
        );
    }
}

#[tokio::test]
async fn a_modern_request_is_held_to_its_headers() {
    let rig = rig().await;
    let params = call_params("ok", "{}");
    let body = request(
        "1",
        "tools/call",
        &countersign_fixture::client::modern_params(&params),
    );
    let client = rig.client("/mcp/s/x").modern_headers("tools/call", &params);
    for (client, header) in [
        (client.clone().without_header("Mcp-Name"), "Mcp-Name"),
        (client.clone().with_header("Mcp-Name", "echo"), "Mcp-Name"),
        (
            client.clone().with_header("Mcp-Method", "tools/list"),
            "Mcp-Method",
        ),
        (
            client.clone().without_header("MCP-Protocol-Version"),
            "MCP-Protocol-Version",
        ),
    ] {
        let answer = client.post(&body).await.expect("an answer");
        assert_eq!(
            (answer.status, error_code(&answer)),
            (400, -32020),
            "{header}"
        );
    }
    let other = client
        .clone()
        .with_header("MCP-Protocol-Version", "2030-01-01");
    let answer = other.post(&body).await.expect("an answer");
    assert_eq!((answer.status, error_code(&answer)), (400, -32020));
    let wrapped = client.clone().with_header("Mcp-Name", "=?base64?b2s=?=");
    assert_eq!(wrapped.post(&body).await.expect("an answer").status, 200);
    let bare = request("1", "tools/call", &params);
    let answer = client.post(&bare).await.expect("an answer");
    assert_eq!((answer.status, error_code(&answer)), (400, -32602));
    let future = body_with(&body, "2026-07-28", "2030-01-01");
    let answer = client
        .with_header("MCP-Protocol-Version", "2030-01-01")
        .post(&future)
        .await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.status, error_code(&answer)), (400, -32022));
}

#[tokio::test]
async fn marked_arguments_are_repeated_in_headers() {
    let tool = Tool::new(
        r#"{"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}}"#,
    );
    let (server, _folder) = scripted("x", &Script::new("x").tool(tool));
    let rig = Rig::over(vec![server]).await;
    for (path, name) in [("/mcp/s/x", "t"), ("/mcp/all", "x__t")] {
        let params = call_params(name, r#"{"region":"z\u00fcrich","n":5}"#);
        let message = request("1", "tools/call", &modern_params(&params));
        let client = rig.client(path).modern_headers("tools/call", &params);
        let client = client
            .with_header("Mcp-Param-Region", "=?base64?esO8cmljaA==?=")
            .with_header("Mcp-Param-N", "5.0");
        let answer = client.post(&message).await.expect("an answer");
        assert_eq!(answer.status, 200, "{path}");
        for wrong in [
            client.clone().without_header("Mcp-Param-Region"),
            client.clone().with_header("Mcp-Param-N", "6"),
        ] {
            let answer = wrong.post(&message).await.expect("an answer");
            assert_eq!(
                (answer.status, error_code(&answer)),
                (400, -32020),
                "{path}"
            );
        }
        let params = call_params(name, r#"{"n":5}"#);
        let message = request("1", "tools/call", &modern_params(&params));
        let answer = client.post(&message).await.expect("an answer");
        assert_eq!(
            (answer.status, error_code(&answer)),
            (400, -32020),
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_oldest_version_may_send_several_messages_at_once() {
    let rig = rig().await;
    let session = rig.client("/mcp/s/x").handshake("2025-03-26").await;
    let session = session
        .expect("a session")
        .without_header("MCP-Protocol-Version");
    let call = call_params("ok", "{}");
    let batch = [
        request("1", "ping", "{}"),
        notification("notifications/cancelled", r#"{"requestId":9}"#),
        request("\"b\"", "tools/call", &call),
        request("3", "initialize", "{}"),
        b"7".to_vec(),
    ];
    let batch = [&b"["[..], &batch.join(&b",\n"[..]), b"]"].concat();
    let answer = session.post(&batch).await.expect("an answer");
    let all: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let ids: Vec<_> = all
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, [&Value::from(1), &"b".into(), &3.into(), &Value::Null]);
    assert_eq!(all[1]["result"]["content"][0]["text"], "ok");
    assert_eq!(
        (&all[2]["error"]["code"], &all[3]["error"]["code"]),
        (&(-32600).into(), &(-32600).into())
    );
    let note = notification("notifications/initialized", "{}");
    let silent = session.post(&[&b"["[..], &note, b"]"].concat()).await;
    assert_eq!(silent.expect("an answer").status, 202);
    let newer = session.with_header("MCP-Protocol-Version", "2025-06-18");
    let refused = newer.post(&batch).await.expect("an answer");
    assert_eq!((refused.status, error_code(&refused)), (400, -32600));
}

fn body_with(body: &[u8], old: &str, new: &str) -> Vec<u8> {
    String::from_utf8_lossy(body).replace(old, new).into_bytes()
}
