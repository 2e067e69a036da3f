//! Servers and clients that want more than their share: floods of questions and news, long tokens, ids and addresses, answers
//! and cancellations of what belongs to others.

use countersign_fixture::client::{call_params, initialize_params, notification, request};
use countersign_fixture::{Answer, Body, Eras, Script, Step, Tool};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::isolation::{say, session, until};
use crate::stateful::Stateful;
use crate::support::{Rig, error_code, next_message as next, result, scripted};

const ASKED: &str = r#"{"elicitation":{}}"#;

#[tokio::test]
async fn a_server_that_asks_without_end_reaches_the_client_only_so_often() {
    let (server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let client = session(&rig, "/mcp/s/x", ASKED).await;
    let other = session(&rig, "/mcp/s/x", ASKED).await;
    let arguments = r#"{"questions":1000,"updates":0}"#;
    let call = request("5", "tools/call", &call_params("flood", arguments));
    let mut stream = client.open("POST", &call).await.expect("a stream");
    let mut questions = 0;
    loop {
        let message = next(&mut stream).await;
        if message["id"] == 5 {
            break;
        }
        assert_eq!(message["method"], "elicitation/create");
        questions += 1;
    }
    assert!((1..=64).contains(&questions), "{questions}");
    // The server is told, and the other client is not disturbed.
    let refused = |message: &Value| message["error"].is_object();
    until(|| !server.received(refused).is_empty()).await;
    assert_eq!(say(&other, "recall", "").await, "");
    // What was refused does not fill the store: one record tells of all.
    let records = rig.activities("type=server_text&limit=1000").await;
    assert!(records.len() <= 65, "{}", records.len());
}

#[tokio::test]
async fn news_without_end_leave_room_for_questions() {
    let (_server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let client = session(&rig, "/mcp/s/x", ASKED).await;
    // The server has a stream to the client's session, and the client reads nothing.
    let arguments = r#"{"questions":0,"updates":2000}"#;
    let flood = client.call("flood", arguments).await.expect("an answer");
    assert_eq!(flood.status, 200);
    let arguments = r#"{"aside":true,"text":"still here"}"#;
    let call = request("6", "tools/call", &call_params("ask", arguments));
    let mut stream = client.open("POST", &call).await.expect("a stream");
    // News that were still on their way may come first.
    let question = loop {
        let message = next(&mut stream).await;
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    assert_eq!(question["params"]["message"], "still here");
}

#[tokio::test]
async fn an_answer_is_not_given_to_a_server_that_has_begun_anew() {
    let (server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let client = session(&rig, "/mcp/s/x", ASKED).await;
    let ask = async |text: &str| {
        let arguments = json!({ "text": text }).to_string();
        let call = request("5", "tools/call", &call_params("ask", &arguments));
        let mut stream = client.open("POST", &call).await.expect("a stream");
        let question = next(&mut stream).await;
        assert_eq!(question["params"]["message"], text);
        (stream, question)
    };
    let answer = async |question: &Value, text: &str| {
        let content = json!({"action": "accept", "content": {"is": text}});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": content});
        let taken = client.post(answer.to_string().as_bytes()).await;
        assert_eq!(taken.expect("an answer").status, 202);
    };
    let (mut first, old) = ask("delete everything").await;
    server.forget_sessions();
    next(&mut first).await;
    // The server uses the same id for another question.
    let (mut second, new) = ask("may I look?").await;
    answer(&old, "to the first").await;
    answer(&new, "to the second").await;
    let reply = next(&mut second).await.to_string();
    assert!(
        reply.contains("to the second") && !reply.contains("to the first"),
        "{reply}"
    );
    // The client learns that the first question is over.
    let mut own = client.open("GET", b"").await.expect("a stream");
    let cancelled = next(&mut own).await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], old["id"]);
}

#[tokio::test]
async fn a_server_is_answered_before_the_session_of_its_client_ends() {
    let (server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let client = session(&rig, "/mcp/s/x", ASKED).await;
    let call = request("5", "tools/call", &call_params("ask", "{}"));
    let mut stream = client.open("POST", &call).await.expect("a stream");
    next(&mut stream).await;
    let ended = client.send("DELETE", b"").await.expect("an answer");
    assert_eq!(ended.status, 200);
    let is_answer = |message: &Value| message["id"] == "question";
    let is_end = |message: &Value| message["http"] == "DELETE";
    until(|| !server.received(is_end).is_empty()).await;
    let order = server.received(|message| is_answer(message) || is_end(message));
    assert!(
        is_answer(&order[0]) && order[0]["error"].is_object(),
        "{order:?}"
    );
}

#[tokio::test]
async fn a_client_cancels_only_what_is_its_own() {
    let (server, configured) = Stateful::start("x").await;
    let rig = Rig::over(vec![configured]).await;
    let one = session(&rig, "/mcp/s/x", ASKED).await;
    let other = session(&rig, "/mcp/s/x", ASKED).await;
    let call = request("5", "tools/call", &call_params("ask", "{}"));
    let mut stream = one.open("POST", &call).await.expect("a stream");
    let question = next(&mut stream).await;
    let params = r#"{"requestId":5,"reason":"not mine"}"#;
    let cancel = notification("notifications/cancelled", params);
    other.post(&cancel).await.expect("an answer");
    // Nor does a client without a session.
    rig.client("/mcp/s/x")
        .post(&cancel)
        .await
        .expect("an answer");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
    one.post(answer.to_string().as_bytes())
        .await
        .expect("an answer");
    assert!(next(&mut stream).await["result"].is_object());
    let is_cancelled = |message: &Value| message["method"] == "notifications/cancelled";
    assert!(server.received(is_cancelled).is_empty());
    // Its own call it does cancel, and says why.
    let mut stream = one.open("POST", &call).await.expect("a stream");
    next(&mut stream).await;
    one.post(&cancel).await.expect("an answer");
    until(|| !server.received(is_cancelled).is_empty()).await;
    let told = server.received(is_cancelled);
    assert_eq!(told[0]["params"]["reason"], "not mine");
}

#[tokio::test]
async fn a_client_watches_only_so_many_resources() {
    let capabilities = json!({"tools": {}, "resources": {"subscribe": true}});
    let mut script = Script::new("x").eras(Eras::Legacy).tool(Tool::named("t"));
    script.capabilities = Some(RawValue::from_string(capabilities.to_string()).expect("JSON"));
    let answer = vec![vec![Step::Answer(Answer::result(Body::new("{}")))]];
    script
        .methods
        .insert("resources/subscribe".to_owned(), answer);
    let (server, _folder) = scripted("x", &script);
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x").handshake("2025-11-25").await;
    let client = client.expect("a session");
    let subscribe = async |uri: String| {
        let params = json!({ "uri": uri }).to_string();
        let answer = client.request("resources/subscribe", &params).await;
        answer.expect("an answer")
    };
    // Long addresses take the room of many.
    let large = |number: usize| format!("a:{number}{}", "x".repeat(100_000));
    for number in 0..5 {
        assert_eq!(result(&subscribe(large(number)).await), "{}");
    }
    assert_eq!(error_code(&subscribe(large(5)).await), -32602);
    // Again is not one more.
    assert_eq!(result(&subscribe(large(0)).await), "{}");
    let mut taken = 0;
    while error_or_none(&subscribe(format!("a:{taken}")).await).is_none() {
        taken += 1;
    }
    assert_eq!(taken, 1024 - 5);
}

fn error_or_none(answer: &countersign_fixture::client::Response) -> Option<i64> {
    let answer: Value = serde_json::from_slice(&answer.body).expect("JSON");
    answer["error"]["code"].as_i64()
}

#[tokio::test]
async fn what_is_repeated_or_kept_may_not_be_long() {
    let (server, _folder) = scripted("x", &Script::new("x").tool(Tool::named("t")));
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    let long = "x".repeat(2000);
    let params = json!({"name": "t", "_meta": {"progressToken": long}}).to_string();
    let answer = client.request("tools/call", &params).await;
    assert_eq!(error_code(&answer.expect("an answer")), -32602);
    let call = request(&format!("\"{long}\""), "ping", "{}");
    let answer = client.post(&call).await.expect("an answer");
    assert_eq!((answer.status, error_code(&answer)), (400, -32600));
    let mut hello: Value = serde_json::from_str(&initialize_params("2025-11-25")).expect("JSON");
    hello["capabilities"] = json!({"experimental": {"x": {"y": "z".repeat(20_000)}}});
    let answer = client.request("initialize", &hello.to_string()).await;
    let answer = answer.expect("an answer");
    assert_eq!(error_code(&answer), -32602);
    assert_eq!(answer.header("mcp-session-id"), None);
}

/// A thousand clients that have gone without a word: their sessions end, here and at the server.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_idle_sessions_end() {
    const SESSIONS: usize = 1000;
    crate::support::raise_file_limit();
    let (server, mut configured) = Stateful::start("x").await;
    configured.max_client_connections = SESSIONS;
    let rig = Rig::with(vec![configured], |config| {
        config.session_idle_timeout = std::time::Duration::from_millis(500);
    })
    .await;
    let mut clients = Vec::new();
    let mut served = 0;
    for _ in 0..SESSIONS {
        let client = session(&rig, "/mcp/s/x", "{}").await;
        // On a slow machine a session may end before its first call.
        let answer = client.call("recall", "{}").await.expect("an answer");
        assert!([200, 404].contains(&answer.status), "{}", answer.status);
        served += usize::from(answer.status == 200);
        clients.push(client);
    }
    assert!(served > 0);
    // The one that is left belongs to clients without a session.
    until(|| server.sessions() == 1).await;
    let is_end = |message: &Value| message["http"] == "DELETE";
    assert_eq!(server.received(is_end).len(), served);
    for client in clients {
        let gone = client.request("ping", "{}").await.expect("an answer");
        assert_eq!(gone.status, 404);
    }
}
