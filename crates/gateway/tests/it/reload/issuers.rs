//! Changes of the issuers of tokens: they hold for the next request, for remembered tokens too.

use countersign_fixture::client::initialize_params;
use serde_json::{Value, json};

use super::{FileGateway, child};
use crate::support::text;
use crate::tokens::issuer::{Issuer, SigningKey};

const RESOURCE: &str = "http://localhost/mcp/s/x";

/// The status of a call with this token.
async fn call(gateway: &FileGateway, token: &str) -> u16 {
    let client = gateway.rig.stranger("/mcp/s/x");
    let client = client.with_header("Authorization", &format!("Bearer {token}"));
    let answer = client.call("conforming", "{}").await.expect("an answer");
    answer.status
}

fn auth(issuer: &Issuer, changes: &Value) -> Value {
    let mut one = json!({"name": "corp", "issuer": issuer.url});
    super::merge(&mut one, changes);
    json!({"auth": {"issuers": [one]}})
}

#[tokio::test]
async fn a_change_of_issuers_holds_for_remembered_tokens_too() {
    let key = SigningKey::new("one");
    let issuer = Issuer::start(&key).await;
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    let settings = json!({"public_url": "http://localhost"});
    let gateway = FileGateway::over(folder, &servers, &settings).await;
    let token = key.sign(&issuer.claims(RESOURCE));
    let mut claims = issuer.claims(RESOURCE);
    claims["aud"] = json!("app");
    let for_app = key.sign(&claims);
    assert_eq!(call(&gateway, &token).await, 401);
    gateway.edit(&auth(&issuer, &json!({}))).await;
    assert_eq!(call(&gateway, &token).await, 200);
    assert_eq!(call(&gateway, &for_app).await, 401);
    gateway
        .edit(&auth(&issuer, &json!({"audiences": ["app"]})))
        .await;
    assert_eq!(call(&gateway, &for_app).await, 200);
    assert_eq!(issuer.key_fetches(), 1, "the keys outlive the change");
    gateway.edit(&auth(&issuer, &json!({}))).await;
    assert_eq!(call(&gateway, &for_app).await, 401);
    gateway.edit(&json!({"auth": {"scopes": ["other"]}})).await;
    assert_eq!(call(&gateway, &token).await, 403);
    gateway.edit(&json!({"auth": null})).await;
    assert_eq!(call(&gateway, &token).await, 401);
}

#[tokio::test]
async fn streams_of_a_removed_issuer_end_and_those_of_others_go_on() {
    let keys = [SigningKey::new("one"), SigningKey::new("two")];
    let issuers = [Issuer::start(&keys[0]).await, Issuer::start(&keys[1]).await];
    let named = |names: &[usize]| {
        let one = |index: &usize| {
            let name = ["corp", "partner"][*index];
            json!({"name": name, "issuer": issuers[*index].url})
        };
        json!({"issuers": names.iter().map(one).collect::<Vec<_>>()})
    };
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    let settings = json!({"public_url": "http://localhost", "auth": named(&[0, 1])});
    let gateway = FileGateway::over(folder, &servers, &settings).await;
    let mut opened = Vec::new();
    for (key, issuer) in keys.iter().zip(&issuers) {
        let token = format!("Bearer {}", key.sign(&issuer.claims(RESOURCE)));
        let client = gateway.rig.stranger("/mcp/s/x");
        let client = client.with_header("Authorization", &token);
        let params = initialize_params("2025-11-25");
        let begun = client.request("initialize", &params).await;
        let begun = begun.expect("an answer");
        let id = begun.header("mcp-session-id").expect("a session");
        let session = client.with_header("Mcp-Session-Id", id);
        let stream = session.open("GET", b"").await.expect("a stream");
        assert_eq!(stream.status, 200);
        opened.push((session, stream));
    }
    gateway.edit(&json!({"auth": named(&[0])})).await;
    let (session, mut stream) = opened.pop().expect("two");
    while let Ok(Some(_)) = stream.event().await {}
    let refused = session.call("conforming", "{}").await.expect("an answer");
    assert_eq!(refused.status, 401);
    // The session of the other issuer's caller, and what is open in it, go on.
    let (session, mut stream) = opened.pop().expect("one");
    assert!(stream.event().await.expect("a stream").is_some());
    let call = session.call("conforming", "{}").await.expect("an answer");
    assert_eq!(call.status, 200);
    // The issuer comes back: the session that ended is not taken up again.
    gateway.edit(&json!({"auth": null})).await;
    while let Ok(Some(_)) = stream.event().await {}
    gateway.edit(&json!({"auth": named(&[0])})).await;
    let gone = session.call("conforming", "{}").await.expect("an answer");
    assert_eq!(gone.status, 404);
}

#[tokio::test]
async fn issuers_cannot_be_changed_over_the_api() {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    let gateway = FileGateway::over(folder, &servers, &json!({})).await;
    for change in [
        json!({"public_url": "https://evil.example"}),
        json!({"auth": {"issuers": [{"name": "evil", "issuer": "https://evil.example"}]}}),
    ] {
        let (status, said) = gateway.patch(&change.to_string()).await;
        assert_eq!(status, 403, "{said}");
        let file = std::fs::read(&gateway.file).expect("a file");
        assert!(!text(&file).contains("evil"));
    }
}
