//! Clients do not see each other: a legacy server over HTTP gets a session for each of them, and a process too where the
//! configuration says so. What a server asks goes to the client it concerns, and to no other.

use std::time::Duration;

use countersign_config::Isolation;
use countersign_fixture::client::{Exchange, HttpClient, Response, call_params, request};
use serde_json::{Value, json};

use crate::stateful::Stateful;
use crate::support::{Rig, WAIT, fixture, next_message as next, refusal, result, text};

/// A client with a session that declares these capabilities.
pub(crate) async fn session(rig: &Rig, path: &str, capabilities: &str) -> HttpClient {
    let client = rig.client(path);
    let params = format!(
        r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"0"}}}}"#
    );
    let answer = client
        .request("initialize", &params)
        .await
        .expect("an answer");
    let session = answer.header("mcp-session-id").expect("a session");
    let client = client
        .with_header("Mcp-Session-Id", session)
        .with_header("MCP-Protocol-Version", "2025-11-25");
    let initialized = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    client.post(initialized).await.expect("an answer");
    client
}

/// The text that a tool answers with.
pub(crate) async fn say(client: &HttpClient, tool: &str, argument: &str) -> String {
    let arguments = json!({"text": argument}).to_string();
    let answer = client.call(tool, &arguments).await.expect("an answer");
    content(&answer.message().expect("an answer"))
}

fn content(message: &[u8]) -> String {
    let value: Value = serde_json::from_slice(message).expect("JSON");
    let text = value["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{value}")).to_owned()
}

async fn names(client: &HttpClient) -> Vec<String> {
    let list = client.request("tools/list", "{}").await.expect("an answer");
    let list: Value = serde_json::from_str(&result(&list)).expect("JSON");
    let tools = list["tools"].as_array().expect("a list").iter();
    tools
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[tokio::test]
async fn each_session_has_its_own_at_a_legacy_server_over_http() {
    let (server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let one = session(&rig, "/mcp/s/x", "{}").await;
    let other = session(&rig, "/mcp/s/x", "{}").await;
    let merged = session(&rig, "/mcp/all", "{}").await;
    assert_eq!(say(&one, "remember", "a").await, "ok");
    assert_eq!(say(&other, "remember", "b").await, "ok");
    assert_eq!(say(&merged, "x__remember", "c").await, "ok");
    assert_eq!(say(&one, "recall", "").await, "a");
    assert_eq!(say(&other, "recall", "").await, "b");
    assert_eq!(say(&merged, "x__recall", "").await, "c");
    let resources = async |client: &HttpClient| {
        let list = client
            .request("resources/list", "{}")
            .await
            .expect("an answer");
        let list: Value = serde_json::from_str(&result(&list)).expect("JSON");
        list["resources"][0]["name"].clone()
    };
    assert_eq!(
        (resources(&one).await, resources(&other).await),
        (json!("a"), json!("b"))
    );
    // Clients without a session share what is left: one session for all of them, which no other client uses.
    let bare = rig.client("/mcp/s/x");
    assert_eq!(say(&bare, "recall", "").await, "");
    assert_eq!(server.sessions(), 4);
    // The end of a session ends the one behind it.
    assert_eq!(
        one.send("DELETE", b"").await.expect("an answer").status,
        200
    );
    until(|| server.sessions() == 3).await;
    assert_eq!(say(&other, "recall", "").await, "b");
}

/// Waits until something holds.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    let wait = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(WAIT, wait)
        .await
        .expect("it comes to hold");
}

#[tokio::test]
async fn a_shared_session_is_a_choice() {
    let (server, mut configured) = Stateful::start("x").await;
    configured.isolation = Some(Isolation::Shared);
    let rig = Rig::over(vec![configured]).await;
    let one = session(&rig, "/mcp/s/x", "{}").await;
    let other = session(&rig, "/mcp/s/x", "{}").await;
    assert_eq!(say(&one, "remember", "a").await, "ok");
    assert_eq!(say(&other, "recall", "").await, "a");
    assert_eq!(server.sessions(), 1);
}

#[tokio::test]
async fn a_process_each_is_a_choice() {
    let shared = fixture("shared", &["--preset", "faults"]);
    let mut own = fixture("own", &["--preset", "faults"]);
    own.isolation = Some(Isolation::Client);
    let rig = Rig::over(vec![shared, own]).await;
    for (server, is_seen) in [("shared", true), ("own", false)] {
        let path = format!("/mcp/s/{server}");
        let one = session(&rig, &path, "{}").await;
        let other = session(&rig, &path, "{}").await;
        assert!(names(&other).await.contains(&"soon_gone".to_owned()));
        one.call("change_list", "{}").await.expect("an answer");
        let seen = |client: HttpClient| async move {
            while names(&client).await.contains(&"soon_gone".to_owned()) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(WAIT, seen(one))
            .await
            .expect("the client's own list changes");
        if is_seen {
            tokio::time::timeout(WAIT, seen(other))
                .await
                .expect("the list of all changes");
        } else {
            assert!(names(&other).await.contains(&"soon_gone".to_owned()));
        }
    }
}

#[tokio::test]
async fn connections_are_bounded_and_the_idlest_client_makes_room() {
    let (server, mut configured) = Stateful::start("x").await;
    configured.max_client_connections = 2;
    let rig = Rig::over(vec![configured]).await;
    let mut clients = Vec::new();
    for text in ["a", "b", "c"] {
        let client = session(&rig, "/mcp/s/x", "{}").await;
        assert_eq!(say(&client, "remember", text).await, "ok");
        clients.push(client);
    }
    // The first one has to begin anew; it is told, so that it does not go on without its state.
    let gone = clients[0].call("recall", "{}").await.expect("an answer");
    assert_eq!(gone.status, 404);
    assert_eq!(say(&clients[1], "recall", "").await, "b");
    assert_eq!(say(&clients[2], "recall", "").await, "c");
    until(|| server.sessions() == 3).await;
}

#[tokio::test]
async fn idle_sessions_end_with_their_connections() {
    let (server, configured) = Stateful::start("x").await;
    let idle = Duration::from_millis(300);
    let rig = Rig::with(vec![configured], |config| {
        config.session_idle_timeout = idle;
    })
    .await;
    let client = session(&rig, "/mcp/s/x", "{}").await;
    assert_eq!(say(&client, "remember", "a").await, "ok");
    let listening = session(&rig, "/mcp/s/x", "{}").await;
    let _stream = listening.open("GET", b"").await.expect("a stream");
    assert_eq!(say(&listening, "remember", "b").await, "ok");
    until(|| server.sessions() == 2).await;
    assert_eq!(
        client.call("recall", "{}").await.expect("an answer").status,
        404
    );
    // A client that listens is not idle.
    assert_eq!(say(&listening, "recall", "").await, "b");
}

#[tokio::test]
async fn a_server_asks_the_client_whose_call_it_is() {
    let (_server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    for path in ["/mcp/s/x", "/mcp/s/x"] {
        let tool = "ask";
        let one = session(&rig, path, r#"{"elicitation":{},"sampling":{}}"#).await;
        let other = session(&rig, path, r#"{"elicitation":{}}"#).await;
        let mut calls = Vec::new();
        for (client, text) in [(&one, "for one"), (&other, "for the other")] {
            let arguments = json!({ "text": text }).to_string();
            let call = request("5", "tools/call", &call_params(tool, &arguments));
            calls.push(client.open("POST", &call).await.expect("a stream"));
        }
        for (index, (client, text)) in [(&one, "for one"), (&other, "for the other")]
            .into_iter()
            .enumerate()
        {
            let question = next(&mut calls[index]).await;
            assert_eq!(
                (&question["method"], &question["params"]["message"]),
                (&json!("elicitation/create"), &json!(text))
            );
            let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"is": text}}});
            let taken = client
                .post(answer.to_string().as_bytes())
                .await
                .expect("an answer");
            assert_eq!(taken.status, 202);
            let reply = next(&mut calls[index]).await;
            let said = reply["result"]["content"][0]["text"]
                .as_str()
                .expect("a text");
            assert!(said.contains(text), "{said}");
        }
    }
    let records = rig.activities("type=server_text").await;
    assert_eq!(records.len(), 4);
    assert!(
        records
            .iter()
            .all(|record| record["reason"] == "elicitation/create" && record["server"] == "x")
    );
}

#[tokio::test]
async fn another_client_cannot_answer() {
    let (_server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let one = session(&rig, "/mcp/s/x", r#"{"elicitation":{}}"#).await;
    let other = session(&rig, "/mcp/s/x", r#"{"elicitation":{}}"#).await;
    let call = request("5", "tools/call", &call_params("ask", "{}"));
    let mut stream = one.open("POST", &call).await.expect("a stream");
    let question = next(&mut stream).await;
    let answer = |text: &str| {
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"is": text}}})
            .to_string()
    };
    other
        .post(answer("theirs").as_bytes())
        .await
        .expect("an answer");
    one.post(answer("ours").as_bytes())
        .await
        .expect("an answer");
    // A second answer is dropped.
    one.post(answer("again").as_bytes())
        .await
        .expect("an answer");
    let reply = next(&mut stream).await.to_string();
    assert!(
        reply.contains("ours") && !reply.contains("theirs"),
        "{reply}"
    );
}

#[tokio::test]
async fn a_question_outside_of_a_call_comes_by_the_clients_own_stream() {
    let (_server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let client = session(&rig, "/mcp/s/x", r#"{"roots":{}}"#).await;
    let mut stream = client.open("GET", b"").await.expect("a stream");
    let arguments = r#"{"aside":true,"method":"roots/list","text":"x<|im_end|>"}"#;
    let call = request("5", "tools/call", &call_params("ask", arguments));
    let ask = async {
        let question = next(&mut stream).await;
        assert_eq!(question["method"], "roots/list");
        assert_eq!(question["params"]["message"], "x(removed: control token)");
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": "file:///r"}]}});
        client
            .post(answer.to_string().as_bytes())
            .await
            .expect("an answer");
    };
    let (answer, ()) = tokio::join!(client.post(&call), ask);
    let answer = text(&answer.expect("an answer").body);
    assert!(answer.contains("file:///r"), "{answer}");
    let decision = rig.activity("type=policy_decision").await;
    assert_eq!(decision["decision"], "rewritten");
}

#[tokio::test]
async fn capabilities_are_mirrored() {
    let (server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let able = session(
        &rig,
        "/mcp/s/x",
        r#"{"elicitation":{"url":{}},"experimental":{"x":{}}}"#,
    )
    .await;
    let unable = session(&rig, "/mcp/s/x", "{}").await;
    assert!(names(&able).await.contains(&"ask".to_owned()));
    assert!(!names(&unable).await.contains(&"ask".to_owned()));
    let greetings: Vec<Value> = {
        let received = server.state.received.lock().expect("no panic");
        let greetings = received
            .iter()
            .filter(|(_, message)| message["method"] == "initialize");
        greetings
            .map(|(_, message)| message["params"]["capabilities"].clone())
            .collect()
    };
    // The first greeting is of the session that clients without one share.
    assert_eq!(
        greetings,
        [json!({}), json!({"elicitation": {"url": {}}}), json!({})]
    );
    // A tool that only one client is shown can be called by it, also without the list, and by no other.
    let arguments = r#"{"method":"sampling/createMessage"}"#;
    let refused = able.call("ask", arguments).await.expect("an answer");
    let refused = content(&refused.message().expect("an answer"));
    assert!(
        refused.contains("-32601"),
        "it cannot be asked for samples: {refused}"
    );
    let unknown = unable.call("ask", "{}").await.expect("an answer");
    assert!(
        text(&unknown.body).contains("unknown tool"),
        "{}",
        text(&unknown.body)
    );
}

#[tokio::test]
async fn what_a_server_says_outside_of_calls_is_passed_on_and_can_be_had_again() {
    let (_server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let client = session(&rig, "/mcp/s/x", "{}").await;
    let other = session(&rig, "/mcp/s/x", "{}").await;
    let mut others = other.open("GET", b"").await.expect("a stream");
    let mut stream = client.open("GET", b"").await.expect("a stream");
    for (method, touched) in [
        ("resources/subscribe", "true"),
        ("resources/unsubscribe", "false"),
    ] {
        let done = client
            .request(method, r#"{"uri":"note:1"}"#)
            .await
            .expect("an answer");
        assert_eq!(result(&done), "{}", "{method}");
        assert_eq!(say(&client, "touch", "note:1").await, touched);
    }
    let update = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "note:1"}});
    assert_eq!(next(&mut stream).await, update);
    say(&client, "log", "one").await;
    let log = next(&mut stream).await;
    assert_eq!(
        (&log["method"], &log["params"]["data"]),
        (&json!("notifications/message"), &json!("one"))
    );
    drop(stream);
    say(&client, "log", "two").await;
    say(&client, "log", "three").await;
    // A client that comes back with the id of an event is told what followed it. The first event was the update.
    for (last, expected) in [
        ("2", &["two", "three"][..]),
        ("1", &["one", "two", "three"]),
    ] {
        let again = client.clone().with_header("Last-Event-ID", last);
        let mut stream = again.open("GET", b"").await.expect("a stream");
        for data in expected {
            assert_eq!(
                next(&mut stream).await["params"]["data"],
                *data,
                "after {last}"
            );
        }
    }
    say(&other, "log", "for the other").await;
    assert_eq!(next(&mut others).await["params"]["data"], "for the other");
}

#[tokio::test]
async fn a_client_without_a_place_is_refused_while_all_are_busy() {
    let (_server, mut configured) = Stateful::start("x").await;
    configured.max_client_connections = 1;
    let rig = Rig::over(vec![configured]).await;
    let busy = session(&rig, "/mcp/s/x", r#"{"elicitation":{}}"#).await;
    let call = request("5", "tools/call", &call_params("ask", "{}"));
    let mut stream = busy.open("POST", &call).await.expect("a stream");
    next(&mut stream).await;
    let late = session(&rig, "/mcp/s/x", "{}").await;
    let refused = late.call("recall", "{}").await.expect("an answer");
    assert!(
        refusal(&refused).contains("too many"),
        "{}",
        text(&refused.body)
    );
}

#[tokio::test]
async fn a_server_that_does_not_wait_any_more_says_so() {
    let (_server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let client = session(&rig, "/mcp/s/x", r#"{"elicitation":{}}"#).await;
    let mut stream = client.open("GET", b"").await.expect("a stream");
    let call = request(
        "5",
        "tools/call",
        &call_params("ask", r#"{"withdraw":true,"text":"late<|im_end|>"}"#),
    );
    client.post(&call).await.expect("an answer");
    let question = next(&mut stream).await;
    assert_eq!(question["method"], "elicitation/create");
    // By the id that the client knows the question by, and not by the server's.
    let cancelled = next(&mut stream).await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    // The reason is the server's text like any other.
    let reason = "late(removed: control token)";
    assert_eq!(
        cancelled["params"],
        json!({"requestId": question["id"], "reason": reason})
    );
    let complete = next(&mut stream).await;
    assert_eq!(complete["method"], "notifications/elicitation/complete");
}

#[tokio::test]
async fn a_ping_of_the_server_is_answered() {
    let (_server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let client = session(&rig, "/mcp/s/x", r#"{"roots":{}}"#).await;
    let answer = client
        .call("ask", r#"{"method":"ping"}"#)
        .await
        .expect("an answer");
    assert_eq!(content(&answer.message().expect("an answer")), "{}");
}

#[tokio::test]
async fn what_a_client_says_of_its_own_accord_reaches_its_server() {
    let (server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let client = session(&rig, "/mcp/s/x", r#"{"roots":{"listChanged":true}}"#).await;
    say(&client, "remember", "a").await;
    for method in ["notifications/roots/list_changed", "notifications/progress"] {
        let note = json!({"jsonrpc": "2.0", "method": method, "params": {"progressToken": 1, "progress": 1}});
        client
            .post(note.to_string().as_bytes())
            .await
            .expect("an answer");
        let is_received = || {
            let received = server.state.received.lock().expect("no panic");
            let mut of_client = received
                .iter()
                .filter(|(session, _)| session == "session-2");
            of_client.any(|(_, message)| message["method"] == method)
        };
        until(is_received).await;
    }
}

/// One client of the property below, and what it has open.
struct Observed {
    client: HttpClient,
    stream: Exchange,
    name: &'static str,
    /// Numbers that decide how the two clients interleave.
    turns: u32,
}

impl Observed {
    async fn begin(rig: &Rig, name: &'static str) -> Self {
        let client = session(rig, "/mcp/s/x", r#"{"elicitation":{}}"#).await;
        let stream = client.open("GET", b"").await.expect("a stream");
        Self {
            client,
            stream,
            name,
            turns: u32::from(name.as_bytes()[0]),
        }
    }

    /// Lets the other client come first, or not.
    async fn take_turns(&mut self) {
        self.turns = self
            .turns
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        for _ in 0..self.turns >> 29 {
            tokio::task::yield_now().await;
        }
    }

    /// A call in which the server says everything that it can say to a client. Each message that comes must be of this
    /// very call.
    async fn perform(&mut self, number: usize) {
        let text = format!("{} {number}", self.name);
        self.take_turns().await;
        let params = json!({"name": "perform", "arguments": {"text": text}, "_meta": {"progressToken": text}});
        // Both use the same ids.
        let call = request("5", "tools/call", &params.to_string());
        let mut calling = self.client.open("POST", &call).await.expect("a stream");
        let progress = next(&mut calling).await;
        assert_eq!(progress["method"], "notifications/progress");
        assert_eq!(
            progress["params"],
            json!({"progressToken": text, "progress": 1, "message": text})
        );
        let log = next(&mut self.stream).await;
        assert_eq!(
            (&log["method"], &log["params"]["data"]),
            (&json!("notifications/message"), &json!(text))
        );
        let update = next(&mut self.stream).await;
        assert_eq!(update["params"], json!({"uri": format!("note:{text}")}));
        let question = next(&mut calling).await;
        assert_eq!(
            (&question["method"], &question["params"]["message"]),
            (&json!("elicitation/create"), &json!(text))
        );
        self.take_turns().await;
        let result = json!({"action": "accept", "content": {"is": text}});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        let answer = self.client.post(answer.to_string().as_bytes()).await;
        assert_eq!(answer.expect("an answer").status, 202);
        let reply = next(&mut calling).await;
        assert_eq!(reply["id"], 5);
        let said = reply["result"]["content"][0]["text"].as_str();
        let said: Value = serde_json::from_str(said.expect("a text")).expect("JSON");
        assert_eq!(said, result);
        self.take_turns().await;
        let list = self.client.request("resources/list", "{}").await;
        let list: Value = serde_json::from_str(&result_of(&list)).expect("JSON");
        assert_eq!(
            list,
            json!({"resources": [{"uri": "note:0", "name": self.name}]})
        );
    }
}

fn result_of(answer: &std::io::Result<Response>) -> String {
    result(answer.as_ref().expect("an answer"))
}

/// Two clients at once, over and over: the requests, progress, notifications and resources that each of them sees are its own.
#[tokio::test]
async fn clients_never_see_each_other_however_their_calls_interleave() {
    const RUNS: usize = 1000;
    let (_server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let mut one = Observed::begin(&rig, "one").await;
    let mut other = Observed::begin(&rig, "other").await;
    for observed in [&one, &other] {
        say(&observed.client, "remember", observed.name).await;
    }
    for number in 0..RUNS {
        tokio::join!(one.perform(number), other.perform(number));
    }
}
