//! Where metadata is looked for, and what has to stand in it.

use countersign_oauth::{Challenge, OAuthError, ResourceMetadata, ServerMetadata};
use serde_json::json;

use crate::peer::{Peer, client, metadata};

const PATH: &str = "/.well-known/oauth-protected-resource/mcp";
const ROOT: &str = "/.well-known/oauth-protected-resource";

/// A server whose metadata is at one path only.
async fn server_with_metadata_at(path: &'static str) -> Peer {
    Peer::start(move |question| {
        if question.line != format!("GET {path}") {
            return (404, String::new());
        }
        let resource = format!("{}/mcp", question.base);
        let issuers = ["https://id.example.com".to_owned()];
        (
            200,
            ResourceMetadata::new(&resource, &issuers, &[]).to_json(),
        )
    })
    .await
}

#[tokio::test]
async fn the_metadata_of_a_resource_is_found_by_header_path_and_root() {
    for (path, expected) in [
        ("/somewhere", vec!["GET /somewhere".to_owned()]),
        (PATH, vec![format!("GET {PATH}")]),
        (ROOT, vec![format!("GET {PATH}"), format!("GET {ROOT}")]),
    ] {
        let peer = server_with_metadata_at(path).await;
        let challenge = Challenge {
            resource_metadata: (path == "/somewhere").then(|| format!("{}{path}", peer.url)),
            ..Challenge::default()
        };
        let server = format!("{}/mcp", peer.url);
        let found = ResourceMetadata::discover(client(), &server, Some(&challenge)).await;
        let found = found.expect("metadata");
        assert_eq!(found.resource, server);
        assert_eq!(found.authorization_servers, ["https://id.example.com"]);
        assert_eq!(peer.lines(), expected);
    }
}

#[tokio::test]
async fn a_server_without_metadata_says_so() {
    let peer = server_with_metadata_at("/nowhere").await;
    let found = ResourceMetadata::discover(client(), &peer.url, None).await;
    assert!(
        matches!(found, Err(OAuthError::NoMetadata { .. })),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_foreign_resource_is_refused() {
    let peer = Peer::start(|_| {
        let other = "https://other.example/mcp";
        (200, ResourceMetadata::new(other, &[], &[]).to_json())
    })
    .await;
    let found = ResourceMetadata::discover(client(), &peer.url, None).await;
    assert!(
        matches!(found, Err(OAuthError::ResourceMismatch)),
        "{found:?}"
    );
}

#[tokio::test]
async fn openid_metadata_is_asked_for_second() {
    let peer = Peer::start(|question| match question.line.as_str() {
        "GET /.well-known/openid-configuration" => metadata(&question.base, &json!({})),
        _ => (404, "not JSON".to_owned()),
    })
    .await;
    let found = ServerMetadata::discover(client(), &peer.url).await;
    let endpoint = format!("{}/token", peer.url);
    assert_eq!(found.expect("metadata").token_endpoint, Some(endpoint));
    assert_eq!(peer.lines().len(), 2);
}

#[tokio::test]
async fn another_issuer_is_refused() {
    for end in ["/", "x", "/tenant"] {
        let peer = Peer::start(move |question| {
            metadata(
                &question.base,
                &json!({"issuer": format!("{}{end}", question.base)}),
            )
        })
        .await;
        let found = ServerMetadata::discover(client(), &peer.url).await;
        assert!(
            matches!(found, Err(OAuthError::IssuerMismatch)),
            "{found:?}"
        );
    }
}

#[tokio::test]
async fn endpoints_that_are_no_web_addresses_are_refused() {
    for (member, url) in [
        ("authorization_endpoint", "javascript:alert(1)"),
        ("authorization_endpoint", "file:///etc/passwd"),
        ("token_endpoint", "data:,x"),
        ("token_endpoint", "https://user:pass@a.example/"),
        ("jwks_uri", "https://a.example/#x"),
        ("registration_endpoint", "https://a.example/\r\nX: y"),
        ("registration_endpoint", ""),
    ] {
        let peer =
            Peer::start(move |question| metadata(&question.base, &json!({member: url}))).await;
        let found = ServerMetadata::discover(client(), &peer.url).await;
        let refused = matches!(found, Err(OAuthError::Address { what }) if what == member);
        assert!(refused, "{url}: {found:?}");
    }
}
