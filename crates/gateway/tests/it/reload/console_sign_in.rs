//! Sessions of the console that were opened at an issuer, or with the key of a caller: what they change is recorded with the
//! caller, and they end when the caller is not let in any more.

use countersign_fixture::client::Exchange;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

use super::{FileGateway, child};
use crate::console::Browser;
use crate::console_sign_in::{LoginBrowser, user};
use crate::support::{WAIT, text};
use crate::tokens::issuer::{Issuer, SigningKey};

fn auth(issuer: &Issuer) -> Value {
    json!({
        "read_groups": ["watch"],
        "manage_groups": ["ops"],
        "issuers": [{"name": "corp", "issuer": issuer.url, "groups_claim": "/groups", "login": {"client_id": "the-gateway"}}],
    })
}

async fn gateway(settings: &Value) -> FileGateway {
    let folder = tempfile::tempdir().expect("a folder");
    let servers = json!({"x": child(&["--preset", "demo"])});
    FileGateway::over(folder, &servers, settings).await
}

async fn start() -> (FileGateway, Issuer, SigningKey) {
    let key = SigningKey::new("one");
    let issuer = Issuer::start(&key).await;
    let settings = json!({"public_url": "http://localhost", "auth": auth(&issuer)});
    (gateway(&settings).await, issuer, key)
}

/// The session of a user who has just signed in.
async fn signed_in<'a>(
    gateway: &'a FileGateway,
    (issuer, key): (&Issuer, &SigningKey),
    claims: &Value,
) -> Browser<'a> {
    let browser = LoginBrowser::new(&gateway.rig);
    let page = browser.sign_in(issuer, key, claims).await;
    assert_eq!(page.status, 200, "{}", text(&page.body));
    browser.session()
}

async fn events(session: &Browser<'_>) -> Exchange {
    let events = session.at("/console/events");
    let events = events.with_header("Accept", "text/event-stream");
    let events = events.open("GET", b"").await.expect("an answer");
    assert_eq!(events.status, 200);
    events
}

async fn wait_for_end(mut events: Exchange) {
    let ended = async { while let Ok(Some(_)) = events.event().await {} };
    timeout(WAIT, ended).await.expect("the stream ends");
}

#[tokio::test]
async fn a_change_of_a_user_is_recorded_with_its_caller() {
    let (gateway, issuer, key) = start().await;
    let claims = user("olga", &["ops"]);
    let operator = signed_in(&gateway, (&issuer, &key), &claims).await;
    assert!(
        operator
            .page("/console")
            .await
            .contains("corp:olga, operator")
    );
    let asked = "server=x&tool=bad_output&mode=strict";
    let answer = operator.submit("/console/policy/mode", asked).await;
    assert_eq!(answer.status, 303, "{}", text(&answer.body));
    let tool = &gateway.read()["mcpServers"]["x"]["tools"]["bad_output"];
    assert_eq!(tool["output_validation"]["mode"], "strict");
    let query = "type=config_change&status=success";
    assert_eq!(gateway.rig.activity(query).await["caller"], "corp:olga");
    let answer = operator.submit("/console/servers/x/restart", "").await;
    assert_eq!(answer.status, 303);
    let record = gateway.rig.activity("type=server_change").await;
    assert_eq!(record["caller"], "corp:olga");
}

#[tokio::test]
async fn a_session_ends_for_good_when_its_issuer_is_removed() {
    let (gateway, issuer, key) = start().await;
    let claims = user("ada", &["watch"]);
    let session = signed_in(&gateway, (&issuer, &key), &claims).await;
    let stream = events(&session).await;
    // A login that is under way is not completed either.
    let browser = LoginBrowser::new(&gateway.rig);
    let callback = browser.approve(&issuer, &key, &claims).await;
    gateway.edit(&json!({"auth": null})).await;
    wait_for_end(stream).await;
    assert_eq!(browser.come_back(&callback).await.status, 404);
    gateway.edit(&json!({"auth": auth(&issuer)})).await;
    assert_eq!(session.get("/console").await.status, 303);
    let session = signed_in(&gateway, (&issuer, &key), &claims).await;
    gateway.edit(&json!({"auth": null})).await;
    assert_eq!(session.get("/console").await.status, 303);
    let refused = session.send("/console/sign-out", "csrf=x").await;
    assert_eq!(refused.status, 401);
}

#[tokio::test]
async fn the_rights_of_a_session_are_those_of_the_configuration_in_force() {
    let (gateway, issuer, key) = start().await;
    let claims = user("ada", &["watch"]);
    let session = signed_in(&gateway, (&issuer, &key), &claims).await;
    assert!(session.page("/console").await.contains("corp:ada, viewer"));
    gateway
        .edit(&json!({"auth": {"manage_groups": ["ops", "watch"]}}))
        .await;
    assert!(
        session
            .page("/console")
            .await
            .contains("corp:ada, operator")
    );
    let groups = json!({"auth": {"read_groups": [], "manage_groups": ["ops"]}});
    gateway.edit(&groups).await;
    assert_eq!(session.get("/console").await.status, 303);
    gateway
        .edit(&json!({"auth": {"read_groups": ["watch"]}}))
        .await;
    assert_eq!(session.get("/console").await.status, 303, "it has ended");
}

#[tokio::test]
async fn the_session_of_a_revoked_caller_ends() {
    let digest = countersign_inspect::encode_hex(&Sha256::digest("key-of-ci"));
    let ci = json!({"name": "ci", "key_sha256": digest, "rights": ["read"]});
    let gateway = gateway(&json!({"callers": [ci]})).await;
    let session = Browser::signed_in(&gateway.rig, "key-of-ci").await;
    assert!(session.page("/console").await.contains("key:ci, viewer"));
    let stream = events(&session).await;
    let (status, said) = gateway.send("POST", "/api/v1/callers/ci/revoke", "").await;
    assert_eq!(status, 200, "{said}");
    assert_eq!(session.get("/console").await.status, 303);
    wait_for_end(stream).await;
}
