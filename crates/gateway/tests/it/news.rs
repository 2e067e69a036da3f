//! What servers announce to the clients that share them: changed lists, and the resources that each client watches.

use countersign_fixture::client::{modern_params, request};
use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Body, Entry, Eras, Script, Step, Tool};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::{
    Rig, error_code, fixture, logged_http, next_message as next, received, result, scripted, text,
};

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("JSON")
}

/// A server with a tool that announces two changed resources, and that its prompts and resources are others.
fn script(eras: Eras) -> Script {
    let mut touch = Tool::named("touch");
    let updated = |uri: &str| {
        let params = json!({"uri": uri});
        let method = "notifications/resources/updated";
        Step::Message(raw(
            &json!({"jsonrpc": "2.0", "method": method, "params": params}),
        ))
    };
    let changed = |list: &str| {
        let method = format!("notifications/{list}/list_changed");
        Step::Message(raw(&json!({"jsonrpc": "2.0", "method": method})))
    };
    touch.replies = vec![vec![
        updated("a:other"),
        updated("a:1"),
        changed("prompts"),
        changed("resources"),
        Step::Answer(Answer::default()),
    ]];
    let mut script = Script::new("x").eras(eras).tool(touch);
    let resources = json!({"subscribe": true, "listChanged": true});
    let prompts = json!({"listChanged": true});
    let capabilities =
        json!({"tools": {}, "prompts": prompts, "resources": resources, "logging": {}});
    script.capabilities = Some(raw(&capabilities));
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let answer = vec![vec![Step::Answer(Answer::result(Body::new("{}")))]];
        script.methods.insert(method.to_owned(), answer);
    }
    script
}

#[tokio::test]
async fn clients_that_share_a_server_hear_of_the_resources_they_watch() {
    let (server, _folder) = scripted("x", &script(Eras::Legacy));
    let rig = Rig::over(vec![server]).await;
    let session = async || {
        let client = rig.client("/mcp/s/x").handshake("2025-11-25").await;
        client.expect("a session")
    };
    let (one, other) = (session().await, session().await);
    let mut ones = one.open("GET", b"").await.expect("a stream");
    let mut others = other.open("GET", b"").await.expect("a stream");
    let subscribed = one.request("resources/subscribe", r#"{"uri":"a:1"}"#).await;
    assert_eq!(result(&subscribed.expect("an answer")), "{}");
    other.call("touch", "{}").await.expect("an answer");
    let update = next(&mut ones).await;
    assert_eq!(
        (&update["method"], &update["params"]),
        (
            &json!("notifications/resources/updated"),
            &json!({"uri": "a:1"})
        )
    );
    for stream in [&mut ones, &mut others] {
        for list in ["prompts", "resources"] {
            let method = format!("notifications/{list}/list_changed");
            assert_eq!(next(stream).await["method"], method);
        }
    }
    // What another client still watches is not unsubscribed from.
    other
        .request("resources/subscribe", r#"{"uri":"a:1"}"#)
        .await
        .expect("an answer");
    one.request("resources/unsubscribe", r#"{"uri":"a:1"}"#)
        .await
        .expect("an answer");
    one.call("touch", "{}").await.expect("an answer");
    assert_eq!(next(&mut others).await["params"]["uri"], "a:1");
    assert_eq!(
        next(&mut ones).await["method"],
        "notifications/prompts/list_changed"
    );
}

#[tokio::test]
async fn a_modern_subscription_is_told_what_it_asks_for() {
    let (server, _fixture, mut log) = logged_http("x", script(Eras::Modern), Format::Sse).await;
    let rig = Rig::over(vec![server]).await;
    let client = rig.client("/mcp/s/x");
    let params = r#"{"notifications":{"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:1"]}}"#;
    let listen = request("\"s\"", "subscriptions/listen", &modern_params(params));
    let listening = client.modern_headers("subscriptions/listen", params);
    let mut stream = listening.open("POST", &listen).await.expect("a stream");
    let acknowledged = next(&mut stream).await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"promptsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": ["a:1"]})
    );
    // The server is asked for the resource too.
    let asked = |entry: &Entry| text(entry.body()).contains(r#""resourceSubscriptions":["a:1"]"#);
    received(&mut log, asked).await;
    let touched = client
        .modern("tools/call", r#"{"name":"touch","arguments":{}}"#)
        .await;
    assert_eq!(touched.expect("an answer").status, 200);
    let tag = json!({"io.modelcontextprotocol/subscriptionId": "s"});
    let update = next(&mut stream).await;
    assert_eq!(update["params"], json!({"uri": "a:1", "_meta": tag}));
    for list in ["prompts", "resources"] {
        let method = format!("notifications/{list}/list_changed");
        let news = next(&mut stream).await;
        assert_eq!(
            (&news["method"], &news["params"]["_meta"]),
            (&json!(method), &tag)
        );
    }
    // A modern client subscribes with `subscriptions/listen` only.
    let params = r#"{"uri":"a:1"}"#;
    let old = client.modern_headers("resources/subscribe", params);
    let old = old.with_header("Mcp-Name", "a:1");
    let old = old
        .request("resources/subscribe", &modern_params(params))
        .await;
    assert_eq!(error_code(&old.expect("an answer")), -32601);
}

#[tokio::test]
async fn a_level_is_set_at_the_server_too() {
    let mut log = countersign_fixture::LogListener::bind()
        .await
        .expect("a port");
    let target = log.target().expect("an address");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("script.json");
    std::fs::write(&file, script(Eras::Legacy).to_json()).expect("the script is written");
    let file = file.to_str().expect("a path in UTF-8");
    let server = fixture("x", &["--script", file, "--log", &target]);
    let rig = Rig::over(vec![server]).await;
    for (level, is_told) in [("warning", true), ("error", false), ("debug", true)] {
        let client = rig.client("/mcp/s/x").handshake("2025-11-25").await;
        let client = client.expect("a session");
        let params = format!(r#"{{"level":"{level}"}}"#);
        let set = client.request("logging/setLevel", &params).await;
        assert_eq!(result(&set.expect("an answer")), "{}");
        if is_told {
            // The lowest level of all clients.
            let told = |entry: &Entry| {
                let text = text(entry.body());
                text.contains("logging/setLevel") && text.contains(level)
            };
            let told = log.find(crate::support::WAIT, told).await.expect("the log");
            assert!(told.is_some(), "{level}");
        }
    }
}
