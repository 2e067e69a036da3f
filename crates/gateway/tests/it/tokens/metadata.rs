//! The metadata of the endpoints (RFC 9728), which tells clients where tokens come from.

use serde_json::{Value, json};

use super::{PUBLIC_URL, TokenRig};
use crate::support::{Rig, preset, text};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

#[tokio::test]
async fn metadata_is_public_and_the_same_for_servers_that_do_not_exist() {
    let rig = TokenRig::start().await;
    for (path, endpoint) in [
        ("", "/mcp"),
        ("/mcp", "/mcp"),
        ("/mcp/call", "/mcp/call"),
        ("/mcp/all", "/mcp/all"),
        ("/mcp/s/x", "/mcp/s/x"),
        ("/mcp/s/no-such-server", "/mcp/s/no-such-server"),
    ] {
        let client = rig.rig.stranger(&format!("{WELL_KNOWN}{path}"));
        let answer = client.send("GET", b"").await.expect("an answer");
        assert_eq!(answer.status, 200, "{path}");
        let document: Value = serde_json::from_slice(&answer.body).expect("JSON");
        let expected = json!({
            "resource": format!("{PUBLIC_URL}{endpoint}"),
            "authorization_servers": [rig.issuer.url],
            "scopes_supported": ["mcp:use"],
            "bearer_methods_supported": ["header"],
        });
        assert_eq!(document, expected, "{path}");
    }
    for path in ["/other", "/mcp/s/", "/mcp/s/a/b", "x", "/api/v1/servers"] {
        let client = rig.rig.stranger(&format!("{WELL_KNOWN}{path}"));
        assert_eq!(
            client.send("GET", b"").await.expect("an answer").status,
            404,
            "{path}"
        );
    }
    let changed = rig.rig.stranger(WELL_KNOWN).send("POST", b"{}").await;
    assert_eq!(changed.expect("an answer").status, 405);
}

#[tokio::test]
async fn the_resource_does_not_depend_on_the_host_header() {
    let rig = TokenRig::start().await;
    for (host, status) in [
        ("tools.example.com", "200"),
        ("localhost:1", "200"),
        ("evil.example", "403"),
    ] {
        let raw =
            format!("GET {WELL_KNOWN}/mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = rig.rig.stranger("/").raw(raw.as_bytes()).await;
        let answer = text(&answer.expect("an answer"));
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        assert_eq!(
            answer.contains(r#""resource":"https://tools.example.com/mcp""#),
            status == "200"
        );
    }
}

#[tokio::test]
async fn without_issuers_there_is_no_metadata() {
    let rig = Rig::over(vec![preset("x", "demo")]).await;
    for path in ["", "/mcp", "/mcp/s/x"] {
        let client = rig.stranger(&format!("{WELL_KNOWN}{path}"));
        assert_eq!(
            client.send("GET", b"").await.expect("an answer").status,
            404,
            "{path}"
        );
    }
}
