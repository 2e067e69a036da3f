//! Streams of events: what a server says before it answers, and news of the list.

use countersign_fixture::client::{
    Exchange, HttpClient, MODERN_META, Response, notification, request,
};
use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Body, Entry, Eras, Script, Step, Tool, preset as presets, span};

use crate::support::{
    Rig, WAIT, error_code, logged_http, over_http, received, result, scripted, text,
};

/// A server of one era; the eras differ in what they say unasked.
async fn rig(eras: Eras) -> (Rig, tempfile::TempDir) {
    let (server, folder) = scripted("x", &presets::faults().eras(eras));
    (Rig::over(vec![server]).await, folder)
}

fn call(tool: &str, meta: &str) -> Vec<u8> {
    let params = format!(r#"{{"name":"{tool}","arguments":{{}},"_meta":{{{meta}}}}}"#);
    request("\"c\"", "tools/call", &params)
}

fn progress(done: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"my token","progress":{done},"total":3}}}}"#
    )
}

fn messages(answer: &Response) -> Vec<String> {
    answer
        .messages()
        .iter()
        .map(|message| text(message))
        .collect()
}

/// The next message of a stream.
async fn next(stream: &mut Exchange) -> Option<String> {
    loop {
        match stream.event().await.expect("a stream") {
            Some(event) if event.comment => {}
            event => return event.map(|event| text(&event.data)),
        }
    }
}

const OK: &str = r#"{"jsonrpc":"2.0","id":"c","result":{"content":[{"type":"text","text":"ok"}]}}"#;
const TOKEN: &str = r#""progressToken":"my token""#;

#[tokio::test]
async fn progress_comes_under_the_clients_token_and_the_reply_last() {
    let (rig, _folder) = rig(Eras::Legacy).await;
    for path in ["/mcp/s/x", "/mcp/all"] {
        let name = if path == "/mcp/all" {
            "x__progress"
        } else {
            "progress"
        };
        let answer = rig
            .client(path)
            .post(&call(name, TOKEN))
            .await
            .expect("an answer");
        assert!(answer.is_events());
        assert_eq!(answer.header("x-accel-buffering"), Some("no"));
        let expected = [progress(1), progress(2), progress(3), OK.to_owned()];
        assert_eq!(messages(&answer), expected, "{path}");
    }
}

#[tokio::test]
async fn progress_of_a_server_over_http_is_passed_on_in_either_era() {
    for eras in [Eras::Legacy, Eras::Modern] {
        let script = presets::faults().eras(eras);
        let (server, _fixture) = over_http("x", script, Format::Sse).await;
        let rig = Rig::over(vec![server]).await;
        let client = rig.client("/mcp/s/x").handshake("2025-11-25").await;
        let answer = client
            .expect("a session")
            .post(&call("progress", TOKEN))
            .await;
        let expected = [progress(1), progress(2), progress(3), OK.to_owned()];
        assert_eq!(messages(&answer.expect("an answer")), expected);
    }
}

#[tokio::test]
async fn a_server_that_only_answers_is_answered_in_json() {
    let (rig, _folder) = rig(Eras::Legacy).await;
    let client = rig.client("/mcp/s/x");
    for (tool, client) in [
        ("ok", client.clone()),
        ("progress", client.clone()),
        (
            "log",
            client.clone().with_header("Accept", "application/json"),
        ),
        ("log", client.clone().without_header("Accept")),
    ] {
        let answer = client.post(&call(tool, "")).await.expect("an answer");
        assert!(!answer.is_events(), "{tool}");
        assert_eq!(text(&answer.body), OK, "{tool}");
    }
}

#[tokio::test]
async fn log_messages_are_heard_from_the_clients_level_on() {
    let (rig, _folder) = rig(Eras::Legacy).await;
    let client = rig
        .client("/mcp/s/x")
        .handshake("2025-06-18")
        .await
        .expect("a session");
    let heard = async |client: &HttpClient| {
        let answer = client.post(&call("log", "")).await.expect("an answer");
        messages(&answer).len()
    };
    assert_eq!(heard(&client).await, 3);
    for (level, messages) in [("warning", 2), ("error", 1), ("debug", 3)] {
        let params = format!(r#"{{"level":"{level}"}}"#);
        let set = client
            .request("logging/setLevel", &params)
            .await
            .expect("an answer");
        assert_eq!(result(&set), "{}");
        assert_eq!(heard(&client).await, messages, "{level}");
    }
    let loud = client
        .request("logging/setLevel", r#"{"level":"loud"}"#)
        .await;
    assert_eq!(error_code(&loud.expect("an answer")), -32602);
    let params = |level: &str| {
        format!(r#"{{"name":"log","arguments":{{}},"_meta":{{{MODERN_META}{level}}}}}"#)
    };
    let client = rig
        .client("/mcp/s/x")
        .modern_headers("tools/call", &params(""));
    for (level, messages) in [
        ("", 1),
        (r#","io.modelcontextprotocol/logLevel":"warning""#, 2),
    ] {
        let request = request("1", "tools/call", &params(level));
        let answer = client.post(&request).await.expect("an answer");
        assert_eq!(answer.messages().len(), messages, "{level}");
    }
}

#[tokio::test]
async fn notes_come_while_the_call_is_under_way_and_who_leaves_cancels_it() {
    let never = Tool::named("never").steps(vec![Step::Progress(
        countersign_fixture::script::Progress { done: 1, total: 3 },
    )]);
    let (server, _folder) = scripted("x", &Script::new("x").tool(never));
    let rig = Rig::over(vec![server]).await;
    let mut stream = rig
        .client("/mcp/s/x")
        .open("POST", &call("never", TOKEN))
        .await
        .expect("a stream");
    assert_eq!(next(&mut stream).await, Some(progress(1)));
    drop(stream);
    let record = rig.activity("type=tool_call&tool=never").await;
    assert_eq!(record["reason"], "the call was cancelled");
}

#[tokio::test]
async fn the_stream_of_a_call_that_is_cancelled_ends_without_an_answer() {
    let never = Tool::named("never").steps(vec![Step::Progress(
        countersign_fixture::script::Progress { done: 1, total: 3 },
    )]);
    let (server, _folder) = scripted("x", &Script::new("x").tool(never));
    let rig = Rig::over(vec![server]).await;
    let client = rig
        .client("/mcp/s/x")
        .handshake("2025-11-25")
        .await
        .expect("a session");
    let mut stream = client
        .open("POST", &call("never", TOKEN))
        .await
        .expect("a stream");
    assert_eq!(next(&mut stream).await, Some(progress(1)));
    let note = notification("notifications/cancelled", r#"{"requestId":"c"}"#);
    client.post(&note).await.expect("an answer");
    assert_eq!(next(&mut stream).await, None);
    let record = rig.activity("type=tool_call&tool=never").await;
    assert_eq!(record["reason"], "the call was cancelled");
}

#[tokio::test]
async fn a_streamed_result_keeps_its_bytes() {
    let odd = r#"{"content":[],"structuredContent":{ "z": -0.0,"n":12345678901234567890, "e":1E2 },"x":null}"#;
    let tool = Tool::named("odd").steps(vec![
        Step::Progress(countersign_fixture::script::Progress { done: 1, total: 3 }),
        Step::Answer(Answer::result(Body::new(odd))),
    ]);
    let (server, _folder) = scripted("x", &Script::new("x").eras(Eras::Legacy).tool(tool));
    let rig = Rig::over(vec![server]).await;
    let answer = rig
        .client("/mcp/s/x")
        .post(&call("odd", TOKEN))
        .await
        .expect("an answer");
    assert!(answer.is_events());
    assert_eq!(
        answer.result().map(|result| text(&result)).as_deref(),
        Some(odd)
    );
}

#[tokio::test]
async fn a_session_hears_of_a_list_that_really_changed() {
    let (rig, _folder) = rig(Eras::Legacy).await;
    let client = rig
        .client("/mcp/s/x")
        .handshake("2025-06-18")
        .await
        .expect("a session");
    let mut first = client.open("GET", b"").await.expect("a stream");
    assert_eq!(first.status, 200);
    let mut stream = client.open("GET", b"").await.expect("a stream");
    // A session has one stream: opening another one ends the first.
    assert_eq!(next(&mut first).await, None);
    client.call("list_changed", "{}").await.expect("an answer");
    rig.counted("lists_captured", 2).await;
    client.call("change_list", "{}").await.expect("an answer");
    let news = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(next(&mut stream).await.as_deref(), Some(news));
    client.send("DELETE", b"").await.expect("an answer");
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test]
async fn a_stream_needs_a_session_that_is_open() {
    let (rig, _folder) = rig(Eras::Both).await;
    let client = rig.client("/mcp/s/x");
    let none = client.send("GET", b"").await.expect("an answer");
    assert_eq!(
        (none.status, none.header("allow")),
        (405, Some("GET, POST, DELETE"))
    );
    let lost = client.clone().with_header("Mcp-Session-Id", "nobody");
    assert_eq!(lost.send("GET", b"").await.expect("an answer").status, 404);
    let session = client.handshake("2025-06-18").await.expect("a session");
    let deaf = session.with_header("Accept", "application/json");
    assert_eq!(deaf.send("GET", b"").await.expect("an answer").status, 405);
}

#[tokio::test]
async fn a_subscription_is_marked_and_ends_with_an_answer() {
    let (rig, _folder) = rig(Eras::Modern).await;
    let listen = async |path: &str, filter: &str| {
        let params = format!(r#"{{"notifications":{filter},"_meta":{{{MODERN_META}}}}}"#);
        let client = rig
            .client(path)
            .modern_headers("subscriptions/listen", &params);
        let request = request("\"s 1\"", "subscriptions/listen", &params);
        client.open("POST", &request).await.expect("a stream")
    };
    let mark = r#""_meta":{"io.modelcontextprotocol/subscriptionId":"s 1"}"#;
    let acknowledged = |filter: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{filter},{mark}}}}}"#
        )
    };
    let all = r#"{"toolsListChanged":true,"promptsListChanged":true}"#;
    let tools = r#"{"toolsListChanged":true}"#;
    let mut one = listen("/mcp/s/x", all).await;
    let mut many = listen("/mcp/all", tools).await;
    let mut nothing = listen("/mcp/all", "{}").await;
    let mut router = listen("/mcp/call", all).await;
    assert_eq!(next(&mut one).await, Some(acknowledged(tools)));
    assert_eq!(next(&mut many).await, Some(acknowledged(tools)));
    assert_eq!(next(&mut nothing).await, Some(acknowledged("{}")));
    // The list of router tools never changes; prompts of the servers may.
    let prompts = r#"{"promptsListChanged":true}"#;
    assert_eq!(next(&mut router).await, Some(acknowledged(prompts)));
    rig.client("/mcp/s/x")
        .call("change_list", "{}")
        .await
        .expect("an answer");
    let news = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{mark}}}}}"#
    );
    assert_eq!(next(&mut one).await.as_deref(), Some(news.as_str()));
    assert_eq!(next(&mut many).await.as_deref(), Some(news.as_str()));
    let stop = tokio::time::timeout(WAIT, rig.gateway.stop(std::future::pending()));
    let end = async {
        for stream in [&mut one, &mut many, &mut nothing, &mut router] {
            let last = next(stream).await.expect("an answer");
            let id = span::member(last.as_bytes(), "id").map(text);
            assert_eq!(id.as_deref(), Some("\"s 1\""), "{last}");
            assert!(last.contains(mark) && last.contains(r#""resultType":"complete""#));
            assert_eq!(next(stream).await, None);
        }
    };
    let (stopped, ()) = tokio::join!(stop, end);
    stopped.expect("it stops");
}

/// The usual fifteen seconds are too long for a test; `bench/idle` waits longer than five minutes.
#[tokio::test]
async fn an_idle_stream_is_sent_comments_as_often_as_configured() {
    let never = Tool::named("never").steps(vec![Step::Progress(
        countersign_fixture::script::Progress { done: 1, total: 3 },
    )]);
    let (server, _folder) = scripted("x", &Script::new("x").tool(never));
    let rig = Rig::with(vec![server], |config| {
        config.stream_keep_alive = std::time::Duration::from_secs(1);
    })
    .await;
    let client = rig.client("/mcp/s/x").handshake("2025-11-25").await;
    let client = client.expect("a session");
    let mut stream = client.open("GET", b"").await.expect("a stream");
    // The first comes with the head of the response, the others while nothing is said.
    for _ in 0..4 {
        let event = stream.event().await.expect("a stream").expect("an event");
        assert!(event.comment, "{}", text(&event.data));
    }
    let mut call = client
        .open("POST", &call("never", TOKEN))
        .await
        .expect("a stream");
    let mut comments = 0;
    while comments < 2 {
        let event = call.event().await.expect("a stream").expect("an event");
        comments += usize::from(event.comment);
    }
}

#[tokio::test]
async fn a_client_that_leaves_frees_the_place_of_its_call() {
    let never = Tool::named("never").steps(Vec::new());
    let script = Script::new("x").tool(never).tool(Tool::named("quick"));
    let (mut server, _fixture, mut log) = logged_http("x", script, Format::Json).await;
    server.max_concurrent_requests = 1;
    server.queue_size = 0;
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    let is_full = async || {
        let answer = client.call("quick", "{}").await.expect("an answer");
        text(&answer.body).contains("too many calls are waiting")
    };
    let is_call = |entry: &Entry| text(entry.body()).contains("tools/call");
    let full = async {
        received(&mut log, is_call).await;
        is_full().await
    };
    tokio::select! {
        _ = client.call("never", "{}") => panic!("the server never answers"),
        full = full => assert!(full, "the call has the only place"),
    }
    // The call was dropped, and its connection with it.
    let freed = async {
        while is_full().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(WAIT, freed)
        .await
        .expect("the place is free");
}
