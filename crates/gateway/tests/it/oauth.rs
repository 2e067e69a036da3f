//! Servers that need a token: logins, tokens that expire or are refused, gateways that share a store, and authorization
//! servers that must not be believed.

pub(crate) mod callers;
pub(crate) mod issuer;
mod recorded;
mod refused;
mod shared;

use std::time::Duration;

use countersign_config::{OAuth, OAuthGrant, Secret, Server, TokenAuthMethod};
use countersign_fixture::client::Response;
use serde_json::{Value, json};

use crate::support::{Rig, WAIT, refusal, result, text};
use issuer::{CANARY, Issuer};

const REDIRECT: &str = "http://127.0.0.1:7999/callback";

/// A server behind this issuer.
fn server(issuer: &Issuer) -> Server {
    let mut server = Server::http("crm", issuer.mcp_url());
    server.oauth = Some(OAuth::default());
    server
}

async fn post(rig: &Rig, path: &str, body: &Value) -> Response {
    let client = rig.admin(&format!("/api/v1/servers/crm/{path}"));
    let answer = client.send("POST", body.to_string().as_bytes()).await;
    answer.expect("an answer")
}

fn parsed(answer: &Response) -> Value {
    assert_eq!(answer.status, 200, "{}", text(&answer.body));
    serde_json::from_slice(&answer.body).expect("JSON")
}

/// Begins a login and gives the address for the browser.
async fn begin(rig: &Rig) -> String {
    let begun = parsed(&post(rig, "login", &json!({"redirect_uri": REDIRECT})).await);
    let url = begun["authorization_url"].as_str().expect("an address");
    url.to_owned()
}

async fn complete(rig: &Rig, query: &str) -> Response {
    post(rig, "login/complete", &json!({"query": query})).await
}

/// Logs in, and waits until the server can be called.
pub(crate) async fn log_in(rig: &Rig, issuer: &Issuer) {
    let query = issuer.approve(&begin(rig).await);
    let status = parsed(&complete(rig, &query).await);
    assert_eq!(status["state"], "authorized", "{status}");
    is_in_state(rig, "up").await;
    is_listed(rig).await;
}

/// Waits until the tools are listed: nothing is asked in the background after that.
async fn is_listed(rig: &Rig) {
    let listed = async {
        while rig.get("/api/v1/servers/crm").await["list"] != "fresh" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(WAIT, listed).await.expect("a list");
}

async fn is_in_state(rig: &Rig, state: &str) -> Value {
    let reached = async {
        loop {
            let server = rig.get("/api/v1/servers/crm").await;
            if server["state"] == state {
                return server;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(WAIT, reached).await.expect(state)
}

async fn works(rig: &Rig) {
    let answer = rig.client("/mcp/s/crm").call("ok", "{}").await;
    let ok = result(&answer.expect("an answer"));
    assert!(ok.contains(r#""text":"ok""#), "{ok}");
}

#[tokio::test]
async fn a_server_waits_for_a_login_and_can_be_called_after_it() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    let waiting = is_in_state(&rig, "failing").await;
    let reason = waiting["reason"].as_str().expect("a reason");
    assert!(reason.contains("`countersign auth login crm`"), "{reason}");
    assert_eq!(
        rig.get("/api/v1/servers/crm/auth").await["state"],
        "needs_login"
    );
    // Without a token nothing is sent.
    assert!(issuer.questions().is_empty(), "{:?}", issuer.questions());
    let early = rig.client("/mcp/s/crm").call("ok", "{}").await;
    assert_eq!(early.expect("an answer").status, 200);
    assert!(issuer.questions().is_empty(), "{:?}", issuer.questions());
    log_in(&rig, &issuer).await;
    works(&rig).await;
    let status = rig.get("/api/v1/servers/crm/auth").await;
    assert_eq!(status["issuer"], issuer.url.as_str());
    assert_eq!(status["can_refresh"], true);
    assert_eq!(status["scope"], "use");
    let asked = issuer.questions();
    let token = asked.iter().find(|it| it.line == "POST /token");
    let body = &token.expect("a request for a token").body;
    let url = issuer.mcp_url();
    let encoded: String = form_urlencoded::byte_serialize(url.as_bytes()).collect();
    let resource = format!("resource={encoded}");
    assert!(body.contains(&resource), "{body}");
}

#[tokio::test]
async fn only_an_admin_logs_in_and_no_answer_has_a_token() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![
        server(&issuer),
        Server::http("other", "http://127.0.0.1:9/"),
    ])
    .await;
    for (method, path) in [
        ("POST", "login"),
        ("POST", "login/complete"),
        ("DELETE", "auth"),
    ] {
        let client = rig.client(&format!("/api/v1/servers/crm/{path}"));
        let answer = client.send(method, b"{}").await.expect("an answer");
        assert_eq!(answer.status, 403, "{path}");
    }
    let other = rig.admin("/api/v1/servers/other/login");
    let body = json!({"redirect_uri": REDIRECT}).to_string();
    let answer = other
        .send("POST", body.as_bytes())
        .await
        .expect("an answer");
    assert_eq!(answer.status, 409, "{}", text(&answer.body));
    log_in(&rig, &issuer).await;
    works(&rig).await;
    for path in [
        "servers",
        "servers/crm",
        "servers/crm/auth",
        "config",
        "status",
        "activity",
    ] {
        let shown = rig.get(&format!("/api/v1/{path}")).await.to_string();
        assert!(!shown.contains(CANARY), "{shown}");
    }
}

#[tokio::test]
async fn a_token_is_exchanged_before_it_expires_once_for_all_callers() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    issuer.change(|it| it.expires_in = 0);
    log_in(&rig, &issuer).await;
    issuer.change(|it| it.expires_in = 3600);
    let before = issuer.count("refresh_token");
    // Each of these finds an expired token.
    let calls = (0..16).map(|_| works(&rig));
    join_all(calls.collect()).await;
    assert_eq!(issuer.count("refresh_token"), before + 1);
    works(&rig).await;
    assert_eq!(issuer.count("refresh_token"), before + 1);
}

async fn join_all(futures: Vec<impl Future<Output = ()>>) {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

#[tokio::test]
async fn a_refused_token_earns_one_exchange_and_one_retry() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    log_in(&rig, &issuer).await;
    let before = issuer.count("refresh_token");
    issuer.revoke_access_tokens();
    works(&rig).await;
    assert_eq!(issuer.count("refresh_token"), before + 1);
    // A server that refuses every token is not asked for ever.
    issuer.change(|it| {
        it.answers
            .insert("POST /mcp".to_owned(), (401, "{}".to_owned()));
    });
    let asked = issuer.questions().len();
    for _ in 0..3 {
        let answer = rig.client("/mcp/s/crm").call("ok", "{}").await;
        refusal(&answer.expect("an answer"));
    }
    assert_eq!(issuer.count("refresh_token"), before + 2);
    let again = issuer.questions().len() - asked;
    assert!(again <= 6, "{again} requests");
}

#[tokio::test]
async fn a_restart_keeps_the_token_and_the_file_does_not_show_it() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    log_in(&rig, &issuer).await;
    works(&rig).await;
    let Rig { gateway, folder } = rig;
    gateway.stop(std::future::pending()).await;
    for entry in std::fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let canary = CANARY.as_bytes();
        let shows = bytes.windows(canary.len()).any(|part| part == canary);
        assert!(!shows, "{}", path.display());
    }
    let rig = Rig::within(folder, vec![server(&issuer)]).await;
    is_in_state(&rig, "up").await;
    works(&rig).await;
    assert_eq!(issuer.count("authorization_code"), 1);
    // The token was given for this address, and is not sent to another one.
    let Rig { gateway, folder } = rig;
    gateway.stop(std::future::pending()).await;
    let other = Issuer::start().await;
    let rig = Rig::within(folder, vec![server(&other)]).await;
    let waiting = is_in_state(&rig, "failing").await;
    let reason = waiting["reason"].as_str().expect("a reason");
    assert!(reason.contains("countersign auth login"), "{reason}");
    assert!(other.questions().is_empty(), "{:?}", other.questions());
}

#[tokio::test]
async fn a_logout_forgets_the_token() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    log_in(&rig, &issuer).await;
    let client = rig.admin("/api/v1/servers/crm/auth");
    let removed = client.send("DELETE", b"").await.expect("an answer");
    assert_eq!(parsed(&removed)["removed"], true);
    is_in_state(&rig, "failing").await;
    assert_eq!(
        rig.get("/api/v1/servers/crm/auth").await["state"],
        "needs_login"
    );
    let again = client.send("DELETE", b"").await.expect("an answer");
    assert_eq!(parsed(&again)["removed"], false);
    log_in(&rig, &issuer).await;
    works(&rig).await;
}

#[tokio::test]
async fn an_expired_login_is_said_and_the_next_one_helps() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    log_in(&rig, &issuer).await;
    issuer.revoke_access_tokens();
    let invalid = json!({"error": "invalid_grant"}).to_string();
    issuer.change(|it| {
        it.answers.insert("POST /token".to_owned(), (400, invalid));
    });
    let answer = rig.client("/mcp/s/crm").call("ok", "{}").await;
    assert_eq!(answer.expect("an answer").status, 200);
    let waiting = is_in_state(&rig, "failing").await;
    let reason = waiting["reason"].as_str().expect("a reason");
    assert!(reason.contains("expired"), "{reason}");
    assert_eq!(
        rig.get("/api/v1/servers/crm/auth").await["state"],
        "needs_login"
    );
    issuer.change(|it| it.answers.clear());
    log_in(&rig, &issuer).await;
    works(&rig).await;
}

#[tokio::test]
async fn missing_scopes_join_the_next_login() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    issuer.change(|it| it.needs_scope = Some("write"));
    log_in(&rig, &issuer).await;
    let answer = rig.client("/mcp/s/crm").call("ok", "{}").await;
    refusal(&answer.expect("an answer"));
    let status = rig.get("/api/v1/servers/crm/auth").await;
    assert_eq!(status["missing_scopes"], json!(["use", "write"]));
    log_in(&rig, &issuer).await;
    works(&rig).await;
    let status = rig.get("/api/v1/servers/crm/auth").await;
    assert_eq!(status["scope"], "use write");
    assert_eq!(status["missing_scopes"], Value::Null);
}

#[tokio::test]
async fn a_client_with_a_secret_needs_no_user() {
    for method in [
        TokenAuthMethod::Auto,
        TokenAuthMethod::Basic,
        TokenAuthMethod::Post,
    ] {
        let issuer = Issuer::start().await;
        let mut server = server(&issuer);
        server.oauth = Some(OAuth {
            grant: OAuthGrant::ClientCredentials,
            client_id: Some("robot".to_owned()),
            client_secret: Some(Secret::new("s3cret/+")),
            token_endpoint_auth_method: method,
            ..OAuth::default()
        });
        let rig = Rig::over(vec![server]).await;
        is_in_state(&rig, "up").await;
        works(&rig).await;
        assert_eq!(issuer.count("client_credentials"), 1);
        issuer.revoke_access_tokens();
        works(&rig).await;
        assert_eq!(issuer.count("client_credentials"), 2);
        let login = post(&rig, "login", &json!({"redirect_uri": REDIRECT})).await;
        assert_eq!(login.status, 409, "{}", text(&login.body));
    }
}

#[tokio::test]
async fn the_document_about_the_gateway_is_its_client_id() {
    let issuer = Issuer::start().await;
    let public = |config: &mut countersign_config::Config| {
        config.public_url = Some("https://tools.example.com".to_owned());
    };
    let rig = Rig::with(vec![server(&issuer)], public).await;
    let document = rig.stranger("/oauth/client.json").send("GET", b"").await;
    let document = parsed(&document.expect("an answer"));
    let id = "https://tools.example.com/oauth/client.json";
    assert_eq!(document["client_id"], id);
    assert_eq!(document["redirect_uris"][0], "http://127.0.0.1/callback");
    issuer.change(|it| it.metadata = json!({"client_id_metadata_document_supported": true}));
    let url = begin(&rig).await;
    let encoded: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    assert!(url.contains(&format!("client_id={encoded}")), "{url}");
    let complete = complete(&rig, &issuer.approve(&url)).await;
    assert_eq!(complete.status, 200, "{}", text(&complete.body));
    let registered = issuer
        .questions()
        .iter()
        .any(|it| it.line == "POST /register");
    assert!(!registered);
    let without = Rig::over(vec![server(&issuer)]).await;
    let missing = without
        .stranger("/oauth/client.json")
        .send("GET", b"")
        .await;
    assert_eq!(missing.expect("an answer").status, 404);
}
