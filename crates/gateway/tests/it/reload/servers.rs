//! Servers that come, go and change while others stay as they are; and what clients hear of it.

use countersign_fixture::client::{Exchange, MODERN_META, request};
use countersign_fixture::http::Format;
use countersign_fixture::{Answer, Entry, LogListener, Script, Step, Tool};
use serde_json::{Value, json};

use super::{FileGateway, child, scripted};
use crate::support::{Rig, WAIT, logged_http, received, refusal, result, text};

pub(super) fn is_call(entry: &Entry) -> bool {
    text(entry.body()).contains("tools/call")
}

/// Waits until a child has closed its log, as it does when it ends.
pub(super) async fn gone(log: &mut LogListener) {
    while log.next(WAIT).await.expect("the log").is_some() {}
}

pub(super) async fn names(rig: &Rig, path: &str) -> Vec<String> {
    let answer = rig.client(path).request("tools/list", "{}").await;
    let value: Value = serde_json::from_slice(&answer.expect("an answer").body).expect("JSON");
    let tools = value["result"]["tools"].as_array();
    let tools = tools.unwrap_or_else(|| panic!("{value}")).iter();
    tools
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

pub(super) fn slow(name: &str) -> Script {
    let steps = vec![Step::DelayMs(500), Step::Answer(Answer::default())];
    Script::new(name).tool(Tool::named(name).steps(steps))
}

#[tokio::test]
async fn a_server_comes_and_another_goes_when_its_calls_have_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut log = LogListener::bind().await.expect("a port");
    let old = scripted(folder.path(), "old", &slow("old"), Some(&log));
    let new = scripted(folder.path(), "new", &slow("new"), None);
    let servers = json!({"stays": child(&["--preset", "demo"]), "old": old});
    let following = FileGateway::over(folder, &servers, &json!({})).await;
    let rig = &following.rig;
    let client = rig.client("/mcp/s/old");
    let call = client.call("old", "{}");
    let change = async {
        log.find(WAIT, is_call).await.expect("the log");
        let said = following
            .change(&json!({"mcpServers": {"old": null, "new": new}}))
            .await;
        assert_eq!(said["changed"], json!(["mcpServers.new", "mcpServers.old"]));
    };
    let (answer, ()) = tokio::join!(call, change);
    // Whatever the configuration says by now, the call was made before.
    assert!(result(&answer.expect("an answer")).contains("content"));
    gone(&mut log).await;
    rig.gateway.settled().await;
    let listed = names(rig, "/mcp/all").await;
    assert!(listed.contains(&"new__new".to_owned()), "{listed:?}");
    assert!(!listed.contains(&"old__old".to_owned()), "{listed:?}");
    let answer = rig.client("/mcp/s/new").call("new", "{}").await;
    assert!(result(&answer.expect("an answer")).contains("content"));
    let answer = client.call("old", "{}").await.expect("an answer");
    assert_eq!(answer.status, 404);
    // Three starts: the one that stays was not started again.
    assert_eq!(following.count("server_starts"), 3);
    assert_eq!(following.count("server_losses"), 0);
}

#[tokio::test]
async fn a_changed_server_is_replaced_and_the_old_one_finishes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut log = LogListener::bind().await.expect("a port");
    let one = scripted(folder.path(), "one", &slow("one"), Some(&log));
    let two = scripted(folder.path(), "two", &slow("two"), None);
    let following = FileGateway::over(folder, &json!({"x": one}), &json!({})).await;
    let rig = &following.rig;
    let client = rig.client("/mcp/s/x");
    let call = client.call("one", "{}");
    let change = async {
        log.find(WAIT, is_call).await.expect("the log");
        following.change(&json!({"mcpServers": {"x": two}})).await;
        // The next call is the new server's, which is waited for.
        client.call("two", "{}").await.expect("an answer")
    };
    let (old, new) = tokio::join!(call, change);
    assert!(result(&old.expect("an answer")).contains("content"));
    assert!(result(&new).contains("content"));
    gone(&mut log).await;
    assert_eq!(names(rig, "/mcp/s/x").await, ["two"]);
}

#[tokio::test]
async fn a_disabled_server_is_gone_and_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    let following = FileGateway::over(folder, &servers, &json!({})).await;
    let rig = &following.rig;
    let before = names(rig, "/mcp/all").await;
    assert!(before.contains(&"x__conforming".to_owned()));
    let enabled = |enabled: bool| json!({"mcpServers": {"x": {"enabled": enabled}}});
    following.change(&enabled(false)).await;
    assert_eq!(names(rig, "/mcp/all").await, [""; 0]);
    following.change(&enabled(true)).await;
    assert_eq!(names(rig, "/mcp/all").await, before);
    let answer = rig.client("/mcp/s/x").call("conforming", "{}").await;
    assert!(result(&answer.expect("an answer")).contains("structuredContent"));
}

#[tokio::test]
async fn limits_and_modes_change_without_a_new_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "faults"]), "y": child(&["--preset", "demo"])});
    let following = FileGateway::over(folder, &servers, &json!({})).await;
    let rig = &following.rig;
    let limits = json!({"mcpServers": {"x": {"timeout": "50ms"},
        "y": {"tools": {"bad_output": {"output_validation": {"mode": "strict"}}}}}});
    following.change(&limits).await;
    let answer = rig.client("/mcp/s/x").call("never", "{}").await;
    let said = refusal(&answer.expect("an answer"));
    assert!(said.contains("50 ms"), "{said}");
    let answer = rig.client("/mcp/s/y").call("bad_output", "{}").await;
    let said = refusal(&answer.expect("an answer"));
    assert!(
        said.starts_with("output schema validation failed"),
        "{said}"
    );
    let arguments = json!({"mcpServers": {"y": {"input_validation": {"mode": "strict"}}}});
    following.change(&arguments).await;
    assert_eq!(following.count("server_starts"), 2);
}

/// The next message of a stream.
async fn next(stream: &mut Exchange) -> String {
    loop {
        match stream.event().await.expect("a stream").expect("more") {
            event if event.comment => {}
            event => return text(&event.data),
        }
    }
}

#[tokio::test]
async fn clients_of_both_eras_hear_of_a_list_that_changed_and_of_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    let following = FileGateway::over(folder, &servers, &json!({})).await;
    let rig = &following.rig;
    let session = rig.client("/mcp/all").handshake("2025-11-25").await;
    let session = session.expect("a session");
    let mut legacy = session.open("GET", b"").await.expect("a stream");
    let params =
        format!(r#"{{"notifications":{{"toolsListChanged":true}},"_meta":{{{MODERN_META}}}}}"#);
    let listen = rig
        .client("/mcp/s/x")
        .modern_headers("subscriptions/listen", &params);
    let body = request("1", "subscriptions/listen", &params);
    let mut modern = listen.open("POST", &body).await.expect("a stream");
    assert!(next(&mut modern).await.contains("acknowledged"));
    // This change leaves the list as it is, so no client is notified of it.
    following
        .change(&json!({"output_validation": {"mode": "strict"}}))
        .await;
    following
        .change(&json!({"output_validation": {"advertise_output_schema": "never"}}))
        .await;
    for stream in [&mut legacy, &mut modern] {
        let news = next(stream).await;
        assert!(news.contains("notifications/tools/list_changed"), "{news}");
    }
    let listed = session
        .request("tools/list", "{}")
        .await
        .expect("an answer");
    assert!(!text(&listed.body).contains("outputSchema"));
    // A new server is a changed list for clients of the endpoint with all servers.
    following
        .change(&json!({"mcpServers": {"y": child(&["--preset", "demo"])}}))
        .await;
    assert!(next(&mut legacy).await.contains("list_changed"));
    following.change(&json!({"mcpServers": {"x": null}})).await;
    assert!(next(&mut legacy).await.contains("list_changed"));
    assert!(next(&mut modern).await.contains("list_changed"));
}

#[tokio::test]
async fn a_broken_contract_is_remembered_when_conforming_ones_are_to_be_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    let following = FileGateway::over(folder, &servers, &json!({})).await;
    let rig = &following.rig;
    let declares = async |tool: &str| {
        let answer = rig.client("/mcp/s/x").request("tools/list", "{}").await;
        let value: Value = serde_json::from_slice(&answer.expect("an answer").body).expect("JSON");
        let tools = value["result"]["tools"].as_array().expect("a list").iter();
        let mut found = tools.filter(|listed| listed["name"] == tool);
        found.next().expect("listed").get("outputSchema").is_some()
    };
    let call = async |tool: &str| {
        let answer = rig.client("/mcp/s/x").call(tool, "{}").await;
        result(&answer.expect("an answer"))
    };
    // In warn a violation reaches the client, and the schema it breaks is still listed.
    assert!(call("bad_output").await.contains("structuredContent"));
    assert!(declares("bad_output").await);
    let advertise = |how: &str| json!({"output_validation": {"advertise_output_schema": how}});
    following.change(&advertise("conforming")).await;
    assert!(!declares("bad_output").await);
    assert!(declares("conforming").await);
    following.change(&advertise("always")).await;
    assert!(declares("bad_output").await);
}

#[tokio::test]
async fn a_server_over_http_is_reached_anew_only_if_its_way_changed() {
    let script = Script::new("x").tool(Tool::named("t"));
    let (_, fixture, mut entries) = logged_http("x", script, Format::Json).await;
    let folder = tempfile::tempdir().expect("a folder");
    let server = json!({"url": fixture.url(), "headers": {"X-Who": "one"}});
    let following = FileGateway::over(folder, &json!({"x": server}), &json!({})).await;
    let client = following.rig.client("/mcp/s/x");
    let mut who = async || {
        let answer = client.call("t", "{}").await.expect("an answer");
        assert!(result(&answer).contains("content"));
        let entry = received(&mut entries, is_call).await;
        entry.header("x-who").expect("the header")
    };
    assert_eq!(who().await, "one");
    following
        .change(&json!({"mcpServers": {"x": {"timeout": "10s"}}}))
        .await;
    assert_eq!(who().await, "one");
    assert_eq!(following.count("server_starts"), 1);
    following
        .change(&json!({"mcpServers": {"x": {"headers": {"X-Who": "two"}}}}))
        .await;
    assert_eq!(who().await, "two");
    assert_eq!(following.count("server_starts"), 2);
}
