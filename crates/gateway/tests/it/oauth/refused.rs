//! Authorization servers, and responses, that must not be believed: nothing is sent to them that they could use.

use serde_json::{Value, json};

use super::issuer::{Behaviour, Issuer};
use super::{REDIRECT, begin, complete, post, server};
use crate::support::{Rig, text};

/// Puts changes into what a server does.
type Change = fn(&mut Behaviour, Value);

/// Begins a login that must be refused, and gives the message.
async fn refused(rig: &Rig) -> String {
    let answer = post(rig, "login", &json!({"redirect_uri": REDIRECT})).await;
    assert_eq!(answer.status, 502, "{}", text(&answer.body));
    text(&answer.body)
}

#[tokio::test]
async fn metadata_that_cannot_be_trusted_begins_no_login() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    let cases: [(Change, Value, &str); 9] = [
        (
            set_metadata,
            json!({"code_challenge_methods_supported": ["plain"]}),
            "S256",
        ),
        (
            set_metadata,
            json!({"code_challenge_methods_supported": null}),
            "cannot be read",
        ),
        (
            set_metadata,
            json!({"issuer": "https://id.example"}),
            "issuer",
        ),
        (
            set_metadata,
            json!({"authorization_endpoint": "javascript:alert(1)"}),
            "authorization_endpoint",
        ),
        (
            set_metadata,
            json!({"token_endpoint": "file:///etc/passwd"}),
            "token_endpoint",
        ),
        (
            set_metadata,
            json!({"authorization_endpoint": null}),
            "authorization_endpoint",
        ),
        (
            set_resource,
            json!({"resource": "https://other.example/mcp"}),
            "another resource",
        ),
        (
            set_resource,
            json!({"authorization_servers": ["ftp://id.example"]}),
            "authorization_servers",
        ),
        (
            set_resource,
            json!({"authorization_servers": []}),
            "cannot be read",
        ),
    ];
    for (set, changes, expected) in cases {
        issuer.change(|it| {
            (it.metadata, it.resource) = (json!({}), json!({}));
            set(it, changes.clone());
        });
        let message = refused(&rig).await;
        assert!(message.contains(expected), "{changes}: {message}");
        assert!(
            !message.contains("alert") && !message.contains("other.example"),
            "{message}"
        );
    }
    let asked = issuer.questions();
    let sent = |line: &str| asked.iter().any(|it| it.line == line);
    assert!(!sent("POST /token") && !sent("POST /register"), "{asked:?}");
}

fn set_metadata(behaviour: &mut Behaviour, changes: Value) {
    behaviour.metadata = changes;
}

fn set_resource(behaviour: &mut Behaviour, changes: Value) {
    behaviour.resource = changes;
}

#[tokio::test]
async fn link_local_addresses_are_never_asked() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    for address in [
        "http://169.254.169.254/",
        "https://169.254.169.254/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/latest",
        "http://[fe80::1]/",
    ] {
        issuer.change(|it| it.resource = json!({"authorization_servers": [address]}));
        let message = refused(&rig).await;
        assert!(
            message.contains("may not be connected to"),
            "{address}: {message}"
        );
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let issuer = Issuer::start().await;
    let other = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    let elsewhere = format!("{}/.well-known/oauth-authorization-server", other.url);
    for line in [
        "POST /mcp",
        "GET /.well-known/oauth-protected-resource/mcp",
        "GET /.well-known/oauth-authorization-server",
    ] {
        let answer = (307, elsewhere.clone());
        issuer.change(|it| it.answers = [(line.to_owned(), answer)].into());
        refused(&rig).await;
    }
    issuer.change(|it| it.answers.clear());
    let query = issuer.approve(&begin(&rig).await);
    let answer = (307, format!("{}/token", other.url));
    issuer.change(|it| it.answers = [("POST /token".to_owned(), answer)].into());
    let failed = complete(&rig, &query).await;
    assert_eq!(failed.status, 502, "{}", text(&failed.body));
    assert!(other.questions().is_empty(), "{:?}", other.questions());
}

#[tokio::test]
async fn a_response_is_used_once_and_must_name_its_issuer() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    let encoded: String = form_urlencoded::byte_serialize(issuer.url.as_bytes()).collect();
    for (from, to, expected) in [
        (format!("&iss={encoded}"), String::new(), "issuer"),
        (
            format!("&iss={encoded}"),
            format!("&iss={encoded}%2F"),
            "issuer",
        ),
        // An error text of another server is not shown.
        (
            format!("&iss={encoded}"),
            "&iss=https%3A%2F%2Fevil.example&error=gotcha".to_owned(),
            "issuer",
        ),
        (
            "code=code-1".to_owned(),
            "code=code-1&code=code-2".to_owned(),
            "cannot be read",
        ),
        (
            "code=code-1".to_owned(),
            "error=access_denied&error_description=gotcha".to_owned(),
            "access_denied",
        ),
    ] {
        let query = issuer.approve(&begin(&rig).await);
        let changed = query.replace(&from, &to);
        assert_ne!(query, changed);
        let answer = complete(&rig, &changed).await;
        let message = text(&answer.body);
        assert_eq!(answer.status, 502, "{message}");
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("gotcha"), "{message}");
        // That login is over, also for the right response.
        assert_eq!(complete(&rig, &query).await.status, 400);
    }
    assert_eq!(issuer.count("authorization_code"), 0);
    let query = issuer.approve(&begin(&rig).await);
    assert_eq!(
        complete(&rig, &query.replace("state=", "state=x"))
            .await
            .status,
        400
    );
    assert_eq!(complete(&rig, &query).await.status, 200);
    assert_eq!(complete(&rig, &query).await.status, 400);
    assert_eq!(issuer.count("authorization_code"), 1);
}

#[tokio::test]
async fn a_browser_comes_back_to_this_machine_only() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    for redirect in [
        "https://evil.example/callback",
        "http://127.0.0.1:1@evil.example/callback",
    ] {
        let answer = post(&rig, "login", &json!({"redirect_uri": redirect})).await;
        assert_eq!(answer.status, 400, "{}", text(&answer.body));
    }
    assert!(issuer.questions().is_empty(), "{:?}", issuer.questions());
}

#[tokio::test]
async fn without_registration_the_keys_to_set_are_named() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    issuer.change(|it| it.metadata = json!({"registration_endpoint": null}));
    let answer = post(&rig, "login", &json!({"redirect_uri": REDIRECT})).await;
    let message = text(&answer.body);
    assert_eq!(answer.status, 409, "{message}");
    assert!(message.contains("oauth.client_id"), "{message}");
}
