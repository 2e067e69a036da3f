//! Rules about callers that change while the gateway runs.

use countersign_fixture::client::{HttpClient, modern_params, request};
use countersign_fixture::{Script, Tool};
use serde_json::{Value, json};

use super::{FileGateway, scripted};
use crate::support::{next_message, text};

async fn names(client: &HttpClient) -> Vec<String> {
    let answer = client.request("tools/list", "{}").await.expect("an answer");
    let value: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let tools = value["result"]["tools"].as_array();
    let tools = tools.unwrap_or_else(|| panic!("{value}")).iter();
    tools
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[tokio::test]
async fn changed_rules_hold_at_once_and_are_news_for_clients() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = Script::new("crm")
        .tool(Tool::named("get"))
        .tool(Tool::named("put"));
    let servers = json!({"crm": scripted(folder.path(), "crm", &script, None)});
    let gateway = FileGateway::over(folder, &servers, &json!({})).await;
    let client = gateway.rig.client("/mcp/s/crm");
    assert_eq!(names(&client).await, ["get", "put"]);
    let params = r#"{"notifications":{"toolsListChanged":true}}"#;
    let listen = request("1", "subscriptions/listen", &modern_params(params));
    let headers = client.modern_headers("subscriptions/listen", params);
    let mut news = headers.open("POST", &listen).await.expect("a stream");
    let opened = next_message(&mut news).await;
    assert_eq!(opened["method"], "notifications/subscriptions/acknowledged");
    let rule = json!({"callers": ["key:client"], "deny": ["crm:put"]});
    let access = json!({"access": {"default": "allow", "rules": [rule]}});
    gateway.edit(&access).await;
    let changed = next_message(&mut news).await;
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(names(&client).await, ["get"]);
    assert_eq!(
        names(&gateway.rig.admin("/mcp/s/crm")).await,
        ["get", "put"]
    );
    let (status, said) = gateway.patch(&json!({"access": null}).to_string()).await;
    assert_eq!(status, 403, "{said}");
    let denied = client.call("put", "{}").await.expect("an answer");
    assert!(text(&denied.body).contains("unknown tool"));
}
