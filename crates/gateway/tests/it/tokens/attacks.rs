//! Tokens that have to be refused. Each is signed by the issuer's own key where that is possible, so that nothing but the
//! rule in question refuses it, and none of them reaches the server.

use countersign_fixture::client::initialize_params;
use ring::hmac;
use serde_json::json;

use super::issuer::{Issuer, SigningKey, encode, now};
use super::{RESOURCE, TokenRig};
use crate::support::{KEY, text};

#[tokio::test]
async fn a_wrong_or_absent_audience_is_refused() {
    let mut rig = TokenRig::start().await;
    for audience in [
        json!("https://other.example.com/mcp/s/x"),
        json!("https://tools.example.com"),
        json!("https://tools.example.com/mcp/s/x/"),
        json!("http://tools.example.com/mcp/s/x"),
        json!(["https://tools.example.com/mcp"]),
        json!([]),
        json!(""),
        json!(null),
    ] {
        rig.refuses(&rig.token_with(&json!({"aud": audience})), "audience")
            .await;
    }
    rig.nothing_forwarded();
}

#[tokio::test]
async fn an_id_token_is_refused() {
    let mut rig = TokenRig::start().await;
    let mut claims = rig.issuer.claims(RESOURCE);
    claims["at_hash"] = json!("x");
    rig.refuses(&rig.key.sign(&claims), "not an access token")
        .await;
    let mut claims = rig.issuer.claims(RESOURCE);
    claims["nonce"] = json!("x");
    let header = json!({"alg": "ES256", "kid": "one"}).to_string();
    rig.refuses(
        &rig.key.sign_text(&header, &claims.to_string()),
        "not an access token",
    )
    .await;
    rig.nothing_forwarded();
}

#[tokio::test]
async fn an_expired_token_is_refused() {
    let mut rig = TokenRig::start().await;
    rig.refuses(&rig.token_with(&json!({"exp": now() - 61})), "expired")
        .await;
    rig.refuses(&rig.token_with(&json!({"exp": null})), "expiry")
        .await;
    rig.nothing_forwarded();
}

#[tokio::test]
async fn a_token_that_is_not_valid_yet_is_refused() {
    let mut rig = TokenRig::start().await;
    rig.refuses(
        &rig.token_with(&json!({"nbf": now() + 3600})),
        "not valid yet",
    )
    .await;
    rig.nothing_forwarded();
}

#[tokio::test]
async fn an_issuer_with_a_slash_more_is_another_issuer() {
    let mut rig = TokenRig::start().await;
    let issuer = format!("{}/", rig.issuer.url);
    rig.refuses(&rig.token_with(&json!({"iss": issuer})), "another issuer")
        .await;
    rig.nothing_forwarded();
}

#[tokio::test]
async fn alg_none_is_refused() {
    let mut rig = TokenRig::start().await;
    for name in ["none", "NONE", "None"] {
        let header = encode(json!({"alg": name, "kid": "one"}).to_string());
        let token = format!(
            "{header}.{}.",
            encode(rig.issuer.claims(RESOURCE).to_string())
        );
        rig.refuses(&token, "algorithm").await;
    }
    rig.nothing_forwarded();
}

#[tokio::test]
async fn hs256_with_the_rsa_key_as_secret_is_refused() {
    let key = SigningKey::rsa("rsa");
    let issuer = Issuer::start(&key).await;
    let mut rig = TokenRig::over(issuer, key, |_| {}).await;
    let secret = hmac::Key::new(hmac::HMAC_SHA256, &rig.key.modulus());
    let header = encode(r#"{"alg":"HS256","kid":"rsa"}"#);
    let message = format!(
        "{header}.{}",
        encode(rig.issuer.claims(RESOURCE).to_string())
    );
    let signature = encode(hmac::sign(&secret, message.as_bytes()));
    rig.refuses(&format!("{message}.{signature}"), "algorithm")
        .await;
    rig.nothing_forwarded();
}

#[tokio::test]
async fn a_key_of_another_type_is_refused() {
    let mut rig = TokenRig::start().await;
    let other = SigningKey::rsa("one");
    rig.refuses(&other.sign(&rig.issuer.claims(RESOURCE)), "does not fit")
        .await;
    rig.nothing_forwarded();
}

#[tokio::test]
async fn a_key_of_another_issuer_is_refused() {
    let mut rig = TokenRig::start().await;
    let other = SigningKey::new("one");
    rig.refuses(&other.sign(&rig.issuer.claims(RESOURCE)), "signature")
        .await;
    rig.nothing_forwarded();
}

#[tokio::test]
async fn a_duplicate_alg_is_refused() {
    let mut rig = TokenRig::start().await;
    let claims = rig.issuer.claims(RESOURCE).to_string();
    for header in [
        r#"{"alg":"ES256","alg":"none","kid":"one"}"#,
        r#"{"alg":"ES256","\u0061lg":"ES256","kid":"one"}"#,
    ] {
        rig.refuses(&rig.key.sign_text(header, &claims), "duplicate")
            .await;
    }
    rig.nothing_forwarded();
}

#[tokio::test]
async fn a_token_that_is_bound_to_a_key_is_refused_as_a_bearer_token() {
    let mut rig = TokenRig::start().await;
    let bound = json!({"cnf": {"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}});
    rig.refuses(&rig.token_with(&bound), "bound to a key").await;
    rig.nothing_forwarded();
}

/// What a token says about its key is only ever compared: nothing is opened, and nothing but the issuer's own two addresses
/// is asked, no more than once.
#[tokio::test]
async fn a_key_id_or_address_in_a_token_is_neither_opened_nor_fetched() {
    let mut rig = TokenRig::start().await;
    rig.works(&rig.token()).await;
    while rig.log.try_recv().is_ok() {}
    let decoy = Issuer::start(&SigningKey::new("one")).await;
    let claims = rig.issuer.claims(RESOURCE).to_string();
    let before = rig.issuer.requests().len();
    let address = format!("{}/keys", decoy.url);
    for id in [
        "../../../../etc/passwd",
        "/dev/zero",
        &address,
        &"k".repeat(10_000),
    ] {
        let header = json!({"alg": "ES256", "kid": id}).to_string();
        rig.refuses(&rig.key.sign_text(&header, &claims), "unknown key")
            .await;
    }
    let foreign = SigningKey::new("one");
    let named = json!({"alg": "ES256", "kid": "one", "jku": address, "x5u": address}).to_string();
    rig.refuses(&foreign.sign_text(&named, &claims), "signature")
        .await;
    assert_eq!(decoy.requests(), Vec::<String>::new());
    let asked = rig.issuer.requests();
    for line in &asked {
        let known = line.starts_with("GET /keys ")
            || line.starts_with("GET /.well-known/oauth-authorization-server ");
        assert!(known, "{line}");
    }
    assert!(asked.len() - before <= 2, "{asked:?}");
    rig.nothing_forwarded();
}

#[tokio::test]
async fn a_token_in_the_address_is_refused_and_not_used() {
    let mut rig = TokenRig::start().await;
    let token = rig.token();
    for path in [
        format!("/mcp/s/x?access_token={token}"),
        format!("/mcp/s/x?a=b&access%5Ftoken={token}"),
        format!("/api/v1/servers?access_token={token}"),
    ] {
        for client in [
            rig.rig.stranger(&path),
            rig.client(&path, &token),
            rig.rig.client(&path),
        ] {
            let answer = client.call("ok", "{}").await.expect("an answer");
            assert_eq!(answer.status, 400, "{path}");
            assert!(!text(&answer.body).contains(&token));
        }
    }
    rig.nothing_forwarded();
}

#[tokio::test]
async fn two_credentials_are_refused() {
    let mut rig = TokenRig::start().await;
    let client = rig
        .client("/mcp/s/x", &rig.token())
        .with_header("X-API-Key", KEY);
    let answer = client.call("ok", "{}").await.expect("an answer");
    assert_eq!(answer.status, 400);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok"}}"#;
    let raw = format!(
        "POST /mcp/s/x HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {0}\r\nAuthorization: Bearer {0}\r\nConnection: close\r\nContent-Length: {1}\r\n\r\n{body}",
        rig.token(),
        body.len()
    );
    let twice = rig.rig.stranger("/").raw(raw.as_bytes()).await;
    let twice = text(&twice.expect("an answer"));
    assert!(twice.starts_with("HTTP/1.1 400"), "{twice}");
    rig.nothing_forwarded();
}

#[tokio::test]
async fn a_token_that_is_too_large_is_refused() {
    let mut rig = TokenRig::start().await;
    let token = rig.token_with(&json!({"padding": "x".repeat(16_000)}));
    rig.refuses(&token, "larger than 16 KiB").await;
    rig.nothing_forwarded();
}

#[tokio::test]
async fn the_session_of_another_caller_is_unknown() {
    let rig = TokenRig::start().await;
    let client = rig.client("/mcp/s/x", &rig.token());
    let params = initialize_params("2025-11-25");
    let answer = client
        .request("initialize", &params)
        .await
        .expect("an answer");
    let session = answer
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    let other = rig.client("/mcp/s/x", &rig.token_with(&json!({"sub": "1"})));
    let made_up = "0".repeat(session.len());
    let mut answers = Vec::new();
    for session in [&session, &made_up] {
        let client = other.clone().with_header("Mcp-Session-Id", session);
        let answer = client.call("ok", "{}").await.expect("an answer");
        assert_eq!(answer.status, 404);
        answers.push(text(&answer.body));
        let ended = client.send("DELETE", b"").await.expect("an answer");
        assert_eq!(ended.status, 404);
    }
    assert_eq!(answers[0], answers[1]);
    let own = client.with_header("Mcp-Session-Id", &session);
    assert_eq!(own.call("ok", "{}").await.expect("an answer").status, 200);
    // A new token of the same caller is still that caller.
    let renewed = rig.client("/mcp/s/x", &rig.token_with(&json!({"jti": "2"})));
    let renewed = renewed.with_header("Mcp-Session-Id", &session);
    assert_eq!(
        renewed.call("ok", "{}").await.expect("an answer").status,
        200
    );
}
