//! Rules that ask for scopes: what needs one is listed, a call is told which, and a token with it may call.

use countersign_config::{Environment, parse};
use serde_json::{Value, json};

use super::{METADATA, TokenRig};
use crate::support::text;

#[tokio::test]
async fn a_token_without_the_scope_of_a_rule_is_told_which_it_needs() {
    let file = json!({"mcpServers": {"x": {"command": "x"}}, "access": {"default": "deny", "rules": [
        {"callers": ["corp:*"], "allow": ["x:ok"], "scopes": ["crm:write", "crm:read"]},
        {"callers": ["key:client"], "allow": ["x:ok"], "scopes": ["crm:write"]}]}});
    let (parsed, _) = parse(&file.to_string(), &Environment::empty()).expect("a configuration");
    let mut rig = TokenRig::with(|config| config.access = parsed.access).await;
    let token = rig.token();
    let client = rig.client("/mcp/s/x", &token);
    let listed = client.request("tools/list", "{}").await.expect("an answer");
    let listed: Value = serde_json::from_slice(&listed.body).expect("JSON");
    let tools = listed["result"]["tools"].as_array().expect("a list");
    assert_eq!((tools.len(), &tools[0]["name"]), (1, &json!("ok")));
    let answer = rig.call(&token).await;
    assert_eq!(answer.status, 403, "{}", text(&answer.body));
    assert_eq!(
        answer.header("www-authenticate"),
        Some(&*format!(
            r#"Bearer error="insufficient_scope", resource_metadata="{METADATA}", scope="mcp:use crm:read crm:write""#
        ))
    );
    rig.nothing_forwarded();
    let record = rig.rig.activity("type=policy_decision").await;
    assert_eq!(record["reason"], "access.rules[0]");
    assert_eq!(record["findings"][0]["rule"], "access.scope");
    let more = rig.token_with(&json!({"scope": "mcp:use crm:read crm:write"}));
    rig.works(&more).await;
    // A caller without a token cannot get a scope, so the tool does not exist for it.
    let key = rig.rig.client("/mcp/s/x").call("ok", "{}").await;
    assert_eq!(key.expect("an answer").status, 404);
}
