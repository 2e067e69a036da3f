//! A legacy session goes on at another gateway with the same key, and after a restart. What the server kept in its own
//! session is lost then; a forged or old id is not accepted.

use std::time::Duration;

use countersign_config::Secret;
use countersign_fixture::client::{HttpClient, initialize_params};

use crate::isolation::say;
use crate::stateful::Stateful;
use crate::support::{KEY, Rig, error_code, preset, result};

const SESSION_KEY: &str = "a key that two gateways share, and no client";

async fn rig(server: &countersign_config::Server) -> Rig {
    Rig::with(vec![server.clone()], |config| {
        config.session_key = Some(Secret::new(SESSION_KEY));
    })
    .await
}

/// Opens a session and gives its id.
async fn open(rig: &Rig) -> String {
    let params = initialize_params("2025-11-25");
    let answer = rig.client("/mcp/s/x").request("initialize", &params).await;
    let answer = answer.expect("an answer");
    answer.header("mcp-session-id").expect("an id").to_owned()
}

fn client(rig: &Rig, id: &str) -> HttpClient {
    rig.client("/mcp/s/x")
        .with_header("Mcp-Session-Id", id)
        .with_header("MCP-Protocol-Version", "2025-11-25")
}

#[tokio::test]
async fn a_session_goes_on_at_another_gateway_without_what_the_server_kept() {
    let (server, configured) = Stateful::start("x").await;
    let (first, second) = (rig(&configured).await, rig(&configured).await);
    let id = open(&first).await;
    let [here, there] = [&first, &second].map(|rig| client(rig, &id));
    assert_eq!(say(&here, "remember", "a secret").await, "ok");
    // The other gateway opens a session of its own at the server.
    assert_eq!(say(&there, "recall", "").await, "");
    assert_eq!(say(&there, "remember", "another").await, "ok");
    assert_eq!(say(&here, "recall", "").await, "a secret");
    assert_eq!(say(&there, "recall", "").await, "another");
    assert!(server.sessions() >= 2);
    // Both write the same name into their records.
    let name = |records: Vec<serde_json::Value>| records[0]["session_id"].clone();
    let names = [
        name(first.activities("type=tool_call&limit=1").await),
        name(second.activities("type=tool_call&limit=1").await),
    ];
    assert!(names[0].is_string() && names[0] == names[1], "{names:?}");
    // A stream is opened there too, and the session can be ended from there.
    let stream = there.open("GET", b"").await.expect("a stream");
    assert_eq!(stream.status, 200);
    let ended = there.send("DELETE", b"").await.expect("an answer");
    assert_eq!(ended.status, 200);
    let gone = there.call("recall", "{}").await.expect("an answer");
    assert_eq!((gone.status, error_code(&gone)), (404, -32600));
}

#[tokio::test]
async fn a_session_goes_on_after_a_restart() {
    let first = Rig::over(vec![preset("x", "faults")]).await;
    let id = open(&first).await;
    let Rig { gateway, folder } = first;
    gateway.stop(std::future::pending()).await;
    let second = Rig::within(folder, vec![preset("x", "faults")]).await;
    let answer = client(&second, &id).call("ok", "{}").await;
    assert!(result(&answer.expect("an answer")).contains("ok"));
}

#[tokio::test]
async fn a_forged_or_old_id_is_unknown_and_the_id_alone_opens_nothing() {
    let server = preset("x", "faults");
    let (first, second) = (rig(&server).await, rig(&server).await);
    let id = open(&first).await;
    let (nonce, rest) = id.split_once('.').expect("three parts");
    let forged = [
        format!("{nonce}.{rest}A"),
        format!("{}.{rest}", nonce.chars().rev().collect::<String>()),
        open(&Rig::over(vec![preset("x", "faults")]).await).await,
        "x".repeat(60_000),
        String::new(),
    ];
    for forged in forged {
        let client = client(&second, &forged);
        let answer = client.call("ok", "{}").await.expect("an answer");
        assert!(answer.status == 404 || answer.status == 431, "{forged}");
        let ended = client.send("DELETE", b"").await.expect("an answer");
        assert!(ended.status == 404 || ended.status == 431, "{forged}");
    }
    let stranger = second.stranger("/mcp/s/x");
    let stranger = stranger.with_header("Mcp-Session-Id", &id);
    let refused = stranger.call("ok", "{}").await.expect("an answer");
    assert_eq!(refused.status, 401);
    let answer = stranger
        .with_header("X-API-Key", KEY)
        .call("ok", "{}")
        .await;
    assert_eq!(answer.expect("an answer").status, 200);

    let brief = Rig::with(vec![server.clone()], |config| {
        config.session_key = Some(Secret::new(SESSION_KEY));
        config.session_lifetime = Duration::ZERO;
    })
    .await;
    let id = open(&brief).await;
    let late = client(&second, &id).call("ok", "{}").await;
    let late = late.expect("an answer");
    assert_eq!((late.status, error_code(&late)), (404, -32600));
    // The gateway that opened it goes on with it.
    let answer = client(&brief, &id).call("ok", "{}").await;
    assert_eq!(answer.expect("an answer").status, 200);
}

#[tokio::test]
async fn the_session_of_another_caller_is_unknown() {
    let server = preset("x", "faults");
    let (first, second) = (rig(&server).await, rig(&server).await);
    let id = open(&first).await;
    // Also where the gateway would take it over from its id.
    for rig in [&first, &second] {
        let other = rig
            .admin("/mcp/s/x")
            .with_header("Mcp-Session-Id", &id)
            .with_header("MCP-Protocol-Version", "2025-11-25");
        let call = other.call("ok", "{}").await.expect("an answer");
        assert_eq!((call.status, error_code(&call)), (404, -32600));
        for method in ["GET", "DELETE"] {
            let answer = other.send(method, b"").await.expect("an answer");
            assert_eq!(answer.status, 404, "{method}");
        }
        let own = client(rig, &id).call("ok", "{}").await;
        assert_eq!(own.expect("an answer").status, 200);
    }
}
