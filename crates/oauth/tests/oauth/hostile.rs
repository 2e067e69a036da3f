//! Servers that send too much, too slowly, or send the client elsewhere.

use std::net::TcpListener;

use countersign_oauth::{Client, Grant, HttpClient, OAuthError, Reach, ServerMetadata};
use serde_json::json;

use crate::peer::{Peer, client, metadata};

#[tokio::test]
async fn a_huge_response_is_refused() {
    let peer = Peer::start(|_| (200, "x".repeat(64 * 1024 + 1))).await;
    let found = ServerMetadata::discover(client(), &peer.url).await;
    assert!(matches!(found, Err(OAuthError::TooLarge)), "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_response_is_given_up() {
    // Connections wait in the queue of the listener and are never answered.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let found = ServerMetadata::discover(client(), &url).await;
    assert!(matches!(found, Err(OAuthError::TimedOut)), "{found:?}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let target = Peer::start(|question| metadata(&question.base, &json!({}))).await;
    for status in [301, 302, 303, 307, 308] {
        let location = target.url.clone();
        let peer = Peer::start(move |_| (status, location.clone())).await;
        let found = ServerMetadata::discover(client(), &peer.url).await;
        assert!(
            matches!(found, Err(OAuthError::NoMetadata { .. })),
            "{found:?}"
        );
    }
    assert!(target.lines().is_empty());
}

#[tokio::test]
async fn credentials_are_not_sent_where_a_redirect_leads() {
    let target = Peer::start(|question| metadata(&question.base, &json!({}))).await;
    let location = target.url.clone();
    let peer = Peer::start(move |question| match question.line.as_str() {
        "POST /token" => (307, location.clone()),
        _ => metadata(&question.base, &json!({})),
    })
    .await;
    let server = ServerMetadata::discover(client(), &peer.url).await;
    let server = server.expect("metadata");
    let own = Client::public("c1");
    let granted = Grant::ClientCredentials.request(client(), &server, &own, None, None);
    let granted = granted.await;
    assert!(
        matches!(granted, Err(OAuthError::Redirected(307))),
        "{granted:?}"
    );
    assert!(target.lines().is_empty());
}

#[tokio::test]
async fn text_of_the_server_is_not_repeated() {
    let canary = "c4n4ry";
    let body = json!({"error": canary, "error_description": canary}).to_string();
    for (status, body) in [
        (400, body),
        (200, canary.to_owned()),
        (500, canary.to_owned()),
    ] {
        let peer = Peer::start(move |_| (status, body.clone())).await;
        let found = ServerMetadata::discover(client(), &peer.url).await;
        let error = found.expect_err("no metadata");
        assert!(!format!("{error} {error:?}").contains(canary));
    }
}

#[tokio::test]
async fn link_local_addresses_are_not_connected_to() {
    for url in [
        "http://169.254.169.254",
        "https://169.254.169.254",
        "http://[::ffff:169.254.169.254]",
        "https://[fe80::1]",
        "http://[fd00:ec2::254]",
        "http://0.0.0.0",
    ] {
        let found = ServerMetadata::discover(client(), url).await;
        assert!(
            matches!(found, Err(OAuthError::Forbidden)),
            "{url}: {found:?}"
        );
    }
}

#[tokio::test]
async fn a_name_that_resolves_to_a_local_address_is_not_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("an option");
    let port = listener.local_addr().expect("an address").port();
    let public = HttpClient::new(Reach::PUBLIC);
    for host in ["localhost", "127.0.0.1", "[::ffff:127.0.0.1]"] {
        let found = ServerMetadata::discover(public, &format!("https://{host}:{port}")).await;
        assert!(
            matches!(found, Err(OAuthError::Forbidden)),
            "{host}: {found:?}"
        );
    }
    let waiting = listener.accept().map(drop).expect_err("no connection");
    assert_eq!(waiting.kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn plain_http_needs_a_local_address() {
    let public = HttpClient::new(Reach::PUBLIC);
    let found = ServerMetadata::discover(public, "http://id.example.com").await;
    assert!(
        matches!(found, Err(OAuthError::Address { .. })),
        "{found:?}"
    );
    let found = ServerMetadata::discover(client(), "http://192.0.2.1").await;
    assert!(matches!(found, Err(OAuthError::Forbidden)), "{found:?}");
}
