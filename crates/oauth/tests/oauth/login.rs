//! A login from registration to refresh, and responses that do not belong to it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use countersign_oauth::{
    AuthorizationRequest, Client, ClientMetadata, Grant, Introspector, OAuthError,
    PendingAuthorization, RefusalCode, Secret, ServerMetadata,
};
use countersign_token::{Issuer, Refusal};
use serde_json::{Value, json};

use crate::peer::{Answer, Peer, Question, client, metadata};

const RESOURCE: &str = "https://tools.example.com/mcp";
const REDIRECT: &str = "http://127.0.0.1:7000/callback";

fn answer(question: &Question, changes: &Value) -> Answer {
    let tokens = json!({"access_token": "a1", "token_type": "Bearer", "refresh_token": "r1",
        "expires_in": 300});
    match question.line.as_str() {
        "POST /register" => (201, json!({"client_id": "c1"}).to_string()),
        "POST /token" if question.body.contains("stolen") => {
            (400, json!({"error": "invalid_grant"}).to_string())
        }
        "POST /token" => (200, tokens.to_string()),
        _ => metadata(&question.base, changes),
    }
}

async fn server(changes: Value) -> (Peer, ServerMetadata) {
    let peer = Peer::start(move |question| answer(question, &changes)).await;
    let found = ServerMetadata::discover(client(), &peer.url).await;
    let found = found.expect("metadata");
    (peer, found)
}

fn fields(query: &str) -> HashMap<String, String> {
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

fn start(
    server: &ServerMetadata,
) -> Result<(HashMap<String, String>, PendingAuthorization), OAuthError> {
    let request = AuthorizationRequest {
        client_id: "c1",
        redirect_uri: REDIRECT,
        resource: Some(RESOURCE),
        scope: Some("mcp:use offline_access"),
    };
    let (url, pending) = request.start(server, Instant::now())?;
    let (address, query) = url.split_once('?').expect("a query");
    assert_eq!(Some(address), server.authorization_endpoint.as_deref());
    Ok((fields(query), pending))
}

#[tokio::test]
async fn a_login_goes_from_registration_to_refresh() {
    let (peer, server) = server(json!({})).await;
    let about = ClientMetadata::new("Countersign", &[REDIRECT.to_owned()], None);
    let registered = about.register(client(), &server).await.expect("a client");
    assert_eq!(registered, Client::public("c1"));
    let (asked, pending) = start(&server).expect("a login");
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(
        (&*asked["resource"], &*asked["response_type"]),
        (RESOURCE, "code")
    );
    let query = format!("code=x%2By&state={}", asked["state"]);
    let code = pending.complete(&query, Instant::now()).expect("a code");
    let grant = Grant::AuthorizationCode(&code);
    let granted = grant
        .request(client(), &server, &registered, Some(RESOURCE), None)
        .await;
    let granted = granted.expect("tokens");
    assert_eq!(granted.access_token.expose(), "a1");
    assert!(!format!("{granted:?} {code:?}").contains("a1"));
    let refresh = granted.refresh_token.expect("a refresh token");
    let grant = Grant::RefreshToken(&refresh);
    grant
        .request(client(), &server, &registered, Some(RESOURCE), None)
        .await
        .expect("tokens");
    let sent: Vec<_> = peer.questions().iter().map(|it| fields(&it.body)).collect();
    let [.., login, refreshed] = &sent[..] else {
        panic!("two requests");
    };
    assert_eq!(
        (&*login["code"], &*login["redirect_uri"]),
        ("x+y", REDIRECT)
    );
    assert_eq!(
        (&*login["client_id"], &*login["resource"]),
        ("c1", RESOURCE)
    );
    assert_eq!(login["code_verifier"].len(), 43);
    assert_eq!(refreshed["refresh_token"], "r1");
}

#[tokio::test]
async fn a_client_shows_its_secret_as_the_server_wants() {
    for (methods, in_header) in [
        (json!([]), true),
        (json!(["client_secret_post", "client_secret_basic"]), true),
        (json!(["client_secret_post"]), false),
    ] {
        let changes = json!({"token_endpoint_auth_methods_supported": methods});
        let (peer, server) = server(changes).await;
        let own = Client::with_secret("id:1", Secret::new("s&1"), &server);
        let grant = Grant::ClientCredentials;
        grant
            .request(client(), &server, &own, None, Some("a b"))
            .await
            .expect("tokens");
        let asked = peer.questions().pop().expect("a question");
        let sent = fields(&asked.body);
        assert_eq!(
            (&*sent["grant_type"], &*sent["scope"]),
            ("client_credentials", "a b")
        );
        // The base64 of `id%3A1:s%261`.
        assert_eq!(asked.authorization == "Basic aWQlM0ExOnMlMjYx", in_header);
        let secret = sent.get("client_secret").map(String::as_str);
        assert_eq!(secret, (!in_header).then_some("s&1"));
    }
}

#[tokio::test]
async fn a_refused_grant_gives_its_code() {
    let (_peer, server) = server(json!({})).await;
    let stolen = Secret::new("stolen");
    let grant = Grant::RefreshToken(&stolen);
    let refused = grant
        .request(client(), &server, &Client::public("c1"), None, None)
        .await;
    let is_expected = matches!(refused, Err(OAuthError::Refused(RefusalCode::InvalidGrant)));
    assert!(is_expected, "{refused:?}");
}

#[tokio::test]
async fn a_server_without_s256_is_refused() {
    for methods in [json!([]), json!(["plain"])] {
        let (peer, server) = server(json!({"code_challenge_methods_supported": methods})).await;
        assert!(matches!(start(&server), Err(OAuthError::NoPkce)));
        assert_eq!(
            peer.lines().len(),
            1,
            "nothing but the metadata was asked for"
        );
    }
}

#[tokio::test]
async fn a_response_of_another_issuer_is_refused_before_its_error_is_read() {
    for (advertised, issuer, accepted) in [
        (true, Some(""), true),
        (false, Some(""), true),
        (false, None, true),
        (true, None, false),
        (true, Some("/"), false),
        (false, Some("/"), false),
        (false, Some(".attacker.example"), false),
    ] {
        let changes = json!({"authorization_response_iss_parameter_supported": advertised});
        let (peer, server) = server(changes).await;
        for outcome in ["code=x", "error=access_denied"] {
            let (asked, pending) = start(&server).expect("a login");
            let mut query = format!("{outcome}&state={}", asked["state"]);
            if let Some(end) = issuer {
                query = format!("{query}&iss={}{end}", peer.url);
            }
            let completed = pending.complete(&query, Instant::now());
            let mismatch = matches!(completed, Err(OAuthError::IssuerMismatch));
            assert_eq!(mismatch, !accepted, "{query}: {completed:?}");
        }
    }
}

#[tokio::test]
async fn a_response_that_does_not_belong_to_the_login_is_refused() {
    let (_peer, server) = server(json!({})).await;
    let complete = |query: &dyn Fn(&str) -> String, late: Duration| {
        let (asked, pending) = start(&server).expect("a login");
        let query = query(&asked["state"]);
        pending.complete(&query, Instant::now() + late).err()
    };
    let minutes = Duration::from_mins;
    let forged = complete(&|_| "code=x&state=forged".to_owned(), minutes(0));
    assert!(matches!(forged, Some(OAuthError::StateMismatch)));
    let absent = complete(&|_| "code=x".to_owned(), minutes(0));
    assert!(matches!(absent, Some(OAuthError::StateMismatch)));
    let late = complete(&|state| format!("code=x&state={state}"), minutes(11));
    assert!(matches!(late, Some(OAuthError::StateMismatch)));
    let twice = complete(&|state| format!("code=x&code=y&state={state}"), minutes(0));
    assert!(matches!(twice, Some(OAuthError::Malformed { .. })));
    let empty = complete(&|state| format!("state={state}"), minutes(0));
    assert!(matches!(empty, Some(OAuthError::Malformed { .. })));
    let denied = complete(
        &|state| format!("error=access_denied&state={state}"),
        minutes(0),
    );
    assert!(matches!(
        denied,
        Some(OAuthError::Refused(RefusalCode::AccessDenied))
    ));
}

#[test]
fn the_document_about_a_client_names_its_own_address() {
    let url = "https://tools.example.com/oauth/client.json";
    for (redirect, kind) in [
        (REDIRECT, "native"),
        ("https://tools.example.com/cb", "web"),
    ] {
        let about = ClientMetadata::new("Countersign", &[redirect.to_owned()], None);
        let document: Value = serde_json::from_str(&about.to_document(url)).expect("JSON");
        assert_eq!(document["client_id"], url);
        assert_eq!(document["redirect_uris"], json!([redirect]));
        assert_eq!(document["application_type"], kind);
        assert_eq!(document["token_endpoint_auth_method"], "none");
    }
}

#[tokio::test]
async fn an_opaque_token_is_explained_by_its_server() {
    let now = 1_800_000_000;
    let peer = Peer::start(move |question| {
        let is_known = fields(&question.body)["token"] == "known";
        let claims = json!({"active": is_known, "sub": "7", "aud": RESOURCE, "exp": now + 60});
        (200, claims.to_string())
    })
    .await;
    let own = Client::public("gateway");
    let introspector = Introspector::new(client(), &peer.url, own).expect("an address");
    let issuer = Issuer::new("corp", &peer.url);
    let known = introspector.ask("known", &issuer, RESOURCE, now).await;
    assert_eq!(
        known.expect("a verdict").expect("a caller").to_string(),
        "corp:7"
    );
    let other = introspector.ask("other", &issuer, RESOURCE, now).await;
    assert_eq!(other.expect("a verdict"), Err(Refusal::Inactive));
    let wrong = introspector
        .ask("known", &issuer, "https://other.example", now)
        .await;
    assert_eq!(wrong.expect("a verdict"), Err(Refusal::Audience));
}
