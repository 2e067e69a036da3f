//! Authorization servers, and responses, that must not be believed: nothing is sent to them that they could use.

use countersign_config::{OAuth, Server};
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

/// Names that the resolver turns into the address of a metadata service without asking a name server: numbers that are no
/// addresses for the gateway, so it treats them as names.
const LINK_LOCAL_NAMES: [&str; 3] = ["169.254.43518", "2852039166", "0xa9fea9fe"];

/// Every address that a login is led to may be one of the attacker's choice.
#[tokio::test]
async fn a_name_that_leads_to_a_link_local_address_is_never_asked() {
    let issuer = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    let hosts = ["169.254.169.254", "[::ffff:169.254.169.254]"];
    for host in hosts.iter().chain(&LINK_LOCAL_NAMES) {
        for scheme in ["http", "https"] {
            let address = format!("{scheme}://{host}/latest");
            let changes: [fn(&mut Behaviour, &str); 4] = [
                |it, address| it.metadata_address = Some(address.to_owned()),
                |it, address| it.resource = json!({"authorization_servers": [address]}),
                |it, address| it.metadata = json!({"registration_endpoint": address}),
                |it, address| it.metadata = json!({"token_endpoint": address}),
            ];
            for (number, change) in changes.into_iter().enumerate() {
                issuer.change(|it| {
                    it.metadata_address = None;
                    (it.metadata, it.resource) = (json!({}), json!({}));
                    change(it, &address);
                });
                let message = if number < 3 {
                    refused(&rig).await
                } else {
                    let query = issuer.approve(&begin(&rig).await);
                    let failed = complete(&rig, &query).await;
                    assert_eq!(failed.status, 502, "{address}");
                    text(&failed.body)
                };
                let expected = "may not be connected to";
                assert!(message.contains(expected), "{number} {address}: {message}");
            }
        }
    }
    assert_eq!(issuer.count("authorization_code"), 0);
}

/// A name that the operator took for a public one, and that leads into the gateway's own machine, as a rebound name does.
#[tokio::test]
async fn a_public_name_that_leads_to_a_private_address_is_not_connected_to() {
    let inside = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    inside.set_nonblocking(true).expect("an option");
    let port = inside.local_addr().expect("an address").port();
    for name in ["127.1", "2130706433", "0x7f000001"] {
        let mut server = Server::http("crm", format!("https://{name}:{port}/mcp"));
        server.oauth = Some(OAuth::default());
        let rig = Rig::over(vec![server]).await;
        let message = refused(&rig).await;
        assert!(message.contains("may not be connected to"), "{message}");
        let early = rig.client("/mcp/s/crm").call("ok", "{}").await;
        assert_eq!(early.expect("an answer").status, 200);
    }
    let waiting = inside.accept().map(drop).expect_err("no connection");
    assert_eq!(waiting.kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let issuer = Issuer::start().await;
    let other = Issuer::start().await;
    let rig = Rig::over(vec![server(&issuer)]).await;
    let elsewhere = format!("{}/.well-known/oauth-authorization-server", other.url);
    let link_local = "http://169.254.169.254/latest";
    for line in [
        "POST /mcp",
        "GET /.well-known/oauth-protected-resource/mcp",
        "GET /.well-known/oauth-authorization-server",
    ] {
        for location in [&*elsewhere, link_local] {
            let answer = (307, location.to_owned());
            issuer.change(|it| it.answers = [(line.to_owned(), answer)].into());
            let message = refused(&rig).await;
            assert!(!message.contains("connect"), "{line}: {message}");
        }
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
