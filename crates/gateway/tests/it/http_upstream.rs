//! Servers over HTTP: how they are greeted, what requests to them say, and that they may go away
//! and come back.

use std::collections::BTreeMap;

use countersign_config::{Protocol, Secret, Server, Transport};
use countersign_fixture::http::{self, Format};
use countersign_fixture::{Answer, Body, Entry, Eras, Log, Script, Step, Tool, preset, span};

use crate::support::{
    KEY, Rig, WAIT, error_code, logged_http, over_http, preset as stdio_preset, received, refusal,
    result, text,
};

fn is_call(entry: &Entry) -> bool {
    text(entry.body()).contains(r#""tools/call""#)
}

async fn works(rig: &Rig, path: &str, tool: &str) {
    let answer = rig.client(path).call(tool, "{}").await.expect("an answer");
    let ok = result(&answer);
    assert!(ok.contains(r#""text":"ok""#), "{ok}");
}

#[tokio::test]
async fn both_eras_are_greeted_and_remembered() {
    for (eras, first, later) in [
        (
            Eras::Legacy,
            ["server/discover", "initialize"],
            "initialize",
        ),
        (
            Eras::Modern,
            ["server/discover", "tools/list"],
            "server/discover",
        ),
    ] {
        let script = preset::faults().eras(eras);
        let (server, _fixture, mut log) = logged_http("x", script, Format::Json).await;
        let again = server.clone();
        let rig = Rig::over(vec![server]).await;
        works(&rig, "/mcp/s/x", "ok").await;
        for method in first {
            received(&mut log, |entry| text(entry.body()).contains(method)).await;
        }
        received(&mut log, is_call).await;
        let Rig { gateway, folder } = rig;
        gateway.stop(std::future::pending()).await;
        let rig = Rig::within(folder, vec![again]).await;
        let greeting = received(&mut log, |entry| !entry.body().is_empty()).await;
        assert!(
            text(greeting.body()).contains(later),
            "{}",
            text(greeting.body())
        );
        works(&rig, "/mcp/s/x", "ok").await;
    }
}

#[tokio::test]
async fn a_modern_request_says_in_its_head_what_it_says_in_its_body() {
    let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"Count"}}}"#;
    let script = format!(
        r#"{{"name":"s","eras":"modern","tools":[{{"tool":{{"name":"gr\u00fc\u00df","inputSchema":{schema}}},"steps":[{{"answer":{{"echo":true}}}}]}}]}}"#
    );
    let script = Script::from_json(script.as_bytes()).expect("a script");
    let (server, _fixture, mut log) = logged_http("x", script, Format::Json).await;
    let rig = Rig::over(vec![server]).await;
    let arguments = r#"{"region":"eu west","n":12}"#;
    let bearer = format!("Bearer {KEY}");
    let client = rig
        .stranger("/mcp/s/x")
        .with_header("Authorization", &bearer);
    let answer = client
        .call("gr\u{fc}\u{df}", arguments)
        .await
        .expect("an answer");
    let echo = span::path(&answer.body, &["result", "structuredContent"]);
    assert_eq!(text(echo.expect("an echo")), arguments);
    let call = received(&mut log, is_call).await;
    for (name, value) in [
        ("MCP-Protocol-Version", Some("2026-07-28")),
        ("Mcp-Method", Some("tools/call")),
        ("Mcp-Name", Some("=?base64?Z3LDvMOf?=")),
        ("Mcp-Param-Region", Some("eu west")),
        ("Mcp-Param-Count", Some("12")),
        ("Mcp-Session-Id", None),
        ("Authorization", None),
        ("X-API-Key", None),
    ] {
        assert_eq!(call.header(name).as_deref(), value, "{name}");
    }
    let meta = span::path(call.body(), &["params", "_meta"]).expect("a _meta");
    assert!(text(meta).contains(r#"protocolVersion":"2026-07-28""#));
}

#[tokio::test]
async fn a_tool_whose_marks_cannot_be_followed_is_left_out() {
    let script = r#"{"name":"s","eras":"modern","tools":[
        {"tool":{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}},"result":{"content":[]}},
        {"tool":{"name":"ok","inputSchema":{"type":"object"}},"result":{"content":[{"type":"text","text":"ok"}]}}]}"#;
    let script = Script::from_json(script.as_bytes()).expect("a script");
    let (server, _fixture) = over_http("x", script.clone(), Format::Json).await;
    let (other, _folder) = crate::support::scripted("y", &script);
    let rig = Rig::over(vec![server, other]).await;
    works(&rig, "/mcp/s/x", "ok").await;
    let tools = rig.get("/api/v1/tools").await.to_string();
    assert!(!tools.contains(r#""x__bad""#), "{tools}");
    // Over stdio there are no headers to be wrong.
    assert!(tools.contains(r#""y__bad""#), "{tools}");
}

#[tokio::test]
async fn configured_headers_go_with_every_request() {
    let script = preset::faults().eras(Eras::Legacy);
    let (_, fixture, mut log) = logged_http("x", script, Format::Json).await;
    let headers = BTreeMap::from([("Authorization".to_owned(), Secret::new("Bearer ours"))]);
    let transport = Transport::Http {
        url: fixture.url(),
        headers,
        protocol: Protocol::StreamableHttp,
    };
    let rig = Rig::over(vec![Server::new("x".to_owned(), transport)]).await;
    works(&rig, "/mcp/s/x", "ok").await;
    loop {
        let entry = received(&mut log, |entry| !entry.body().is_empty()).await;
        assert_eq!(
            entry.header("Authorization").as_deref(),
            Some("Bearer ours")
        );
        if is_call(&entry) {
            assert_eq!(
                entry.header("MCP-Protocol-Version").as_deref(),
                Some("2025-11-25")
            );
            assert!(entry.header("Mcp-Session-Id").is_some());
            assert!(entry.header("Mcp-Method").is_none());
            return;
        }
    }
}

#[tokio::test]
async fn a_lost_session_is_opened_again_once() {
    let script = preset::faults().eras(Eras::Legacy);
    let (server, fixture, mut log) = logged_http("x", script, Format::Json).await;
    let rig = Rig::over(vec![server]).await;
    works(&rig, "/mcp/s/x", "lost_session").await;
    fixture.forget_sessions();
    tokio::join!(
        works(&rig, "/mcp/s/x", "ok"),
        works(&rig, "/mcp/s/x", "stderr_flood"),
    );
    drop(rig);
    drop(fixture);
    let mut greetings = 0;
    while let Some(entry) = log.recv().await {
        greetings += usize::from(text(entry.body()).contains(r#""initialize""#));
    }
    // The first, one for the call that lost its session, one for the two that lost theirs.
    assert_eq!(greetings, 3);
}

#[tokio::test]
async fn a_session_is_ended_with_the_gateway() {
    let script = preset::faults().eras(Eras::Legacy);
    let (server, _fixture, mut log) = logged_http("x", script, Format::Json).await;
    let rig = Rig::over(vec![server]).await;
    works(&rig, "/mcp/s/x", "ok").await;
    rig.gateway.stop(std::future::pending()).await;
    let ends = |entry: &Entry| matches!(entry, Entry::Message { head, .. } if head.starts_with(b"DELETE "));
    let end = received(&mut log, ends).await;
    assert!(end.header("Mcp-Session-Id").is_some());
}

#[tokio::test]
async fn giving_up_cancels() {
    let script = preset::faults().eras(Eras::Legacy);
    let (server, _fixture, mut log) = logged_http("x", script, Format::Json).await;
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    tokio::select! {
        _ = client.call("never", "{}") => panic!("the server never answers"),
        _ = received(&mut log, is_call) => {}
    }
    let cancelled = |entry: &Entry| text(entry.body()).contains("notifications/cancelled");
    received(&mut log, cancelled).await;
    // A modern server sees its stream closed.
    let script = preset::faults().eras(Eras::Modern);
    let (server, _fixture, mut log) = logged_http("x", script, Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    tokio::select! {
        _ = client.call("never", "{}") => panic!("the server never answers"),
        _ = received(&mut log, is_call) => {}
    }
    received(&mut log, |entry| matches!(entry, Entry::Closed)).await;
}

#[tokio::test]
async fn a_request_of_the_servers_own_is_refused() {
    let script = preset::faults().eras(Eras::Legacy);
    let (server, _fixture, mut log) = logged_http("x", script, Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    works(&rig, "/mcp/s/x", "asks_client").await;
    let refused = |entry: &Entry| text(entry.body()).contains("from-server-1");
    let answer = received(&mut log, refused).await;
    assert!(
        text(answer.body()).contains("-32601"),
        "{}",
        text(answer.body())
    );
}

#[tokio::test]
async fn a_changed_list_is_heard() {
    for eras in [Eras::Legacy, Eras::Modern] {
        let script = preset::faults().eras(eras);
        let (server, _fixture) = over_http("x", script, Format::Sse).await;
        let rig = Rig::over(vec![server]).await;
        works(&rig, "/mcp/s/x", "change_list").await;
        let changed = async {
            loop {
                let tools = rig.get("/api/v1/tools").await.to_string();
                if tools.contains(r#""later""#) && !tools.contains(r#""soon_gone""#) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(WAIT, changed).await.expect("news");
    }
}

#[tokio::test]
async fn a_server_that_goes_away_leaves_the_others_and_comes_back() {
    let script = preset::faults();
    let (server, fixture) = over_http("x", script.clone(), Format::Json).await;
    let address = fixture.address();
    let rig = Rig::over(vec![server, stdio_preset("y", "faults")]).await;
    works(&rig, "/mcp/s/x", "ok").await;
    drop(fixture);
    let gone = async {
        loop {
            let answer = rig
                .client("/mcp/s/x")
                .call("ok", "{}")
                .await
                .expect("an answer");
            if refusal(&answer) == "the tool's server cannot be reached" {
                return;
            }
        }
    };
    tokio::time::timeout(WAIT, gone)
        .await
        .expect("it is noticed");
    works(&rig, "/mcp/s/y", "ok").await;
    let health = |servers: &serde_json::Value, name: &str| {
        let servers = servers["servers"].as_array().expect("a list");
        let server = servers.iter().find(|server| server["name"] == name);
        server.expect("a server")["health"].clone()
    };
    let servers = rig.get("/api/v1/servers").await;
    assert_eq!(health(&servers, "x"), "down");
    assert_eq!(health(&servers, "y"), "up");
    let tools = rig.get("/api/v1/tools").await.to_string();
    assert!(
        tools.contains(r#""wire_name":"x__ok""#),
        "what was known stays"
    );
    let _fixture = http::Server::bind(address, script, Format::Json, Log::none())
        .await
        .expect("the same port");
    let back = async {
        while health(&rig.get("/api/v1/servers").await, "x") != "up" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(WAIT, back)
        .await
        .expect("it comes back");
    works(&rig, "/mcp/s/x", "ok").await;
}

#[tokio::test]
async fn a_call_refused_for_its_headers_is_made_again_with_the_marks_of_now() {
    let marked = r#"{"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}"#;
    let mut tool = Tool::new(marked);
    tool.replies = vec![
        vec![Step::Answer(Answer::error(-32020, "Mcp-Param-Region"))],
        vec![Step::Answer(Answer::default())],
    ];
    let mut script = Script::new("x").eras(Eras::Modern).tool(tool);
    // The first list is an old one: the tool marks nothing yet.
    let old = r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#;
    script.list.replies = vec![
        vec![Step::Answer(Answer::result(Body::new(old)))],
        vec![Step::Answer(Answer::default())],
    ];
    let (server, _fixture, mut log) = logged_http("x", script, Format::Json).await;
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    let answer = client.call("t", r#"{"region":"zurich"}"#).await;
    let answer = result(&answer.expect("an answer"));
    assert!(answer.contains(r#""content""#), "{answer}");
    let region = |entry: &Entry| entry.header("mcp-param-region");
    assert_eq!(region(&received(&mut log, is_call).await), None);
    let again = received(&mut log, is_call).await;
    assert_eq!(region(&again).as_deref(), Some("zurich"));
}

#[tokio::test]
async fn a_server_that_refuses_headers_for_ever_is_asked_twice() {
    let mut script = Script::new("x").eras(Eras::Modern).tool(Tool::named("t"));
    let refused = vec![Step::Answer(Answer::error(-32020, "no"))];
    script
        .methods
        .insert("tools/call".to_owned(), vec![refused]);
    let (server, _fixture, mut log) = logged_http("x", script, Format::Json).await;
    let rig = Rig::over(vec![server]).await;
    let answer = rig.client("/mcp/s/x").call("t", "{}").await;
    assert_eq!(error_code(&answer.expect("an answer")), -32020);
    rig.gateway.stop(std::future::pending()).await;
    let mut calls = 0;
    while let Ok(entry) = log.try_recv() {
        calls += usize::from(is_call(&entry));
    }
    assert_eq!(calls, 2);
}
