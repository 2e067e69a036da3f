//! Who may talk to the gateway, and how large a request may be.

use countersign_fixture::client::request;

use crate::support::{KEY, Rig, error_code, preset, text};

const LIST: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

async fn rig() -> Rig {
    Rig::over(vec![preset("x", "demo")]).await
}

#[tokio::test]
async fn every_door_but_the_health_checks_needs_the_key() {
    let rig = rig().await;
    for path in ["/mcp", "/mcp/call", "/mcp/all", "/mcp/s/x"] {
        let refused = rig.stranger(path).post(LIST).await.expect("an answer");
        assert_eq!(refused.status, 401, "{path}");
        assert!(refused.header("www-authenticate").is_some());
        let wrong = rig
            .stranger(path)
            .with_header("X-API-Key", "wrong")
            .post(LIST)
            .await;
        assert_eq!(wrong.expect("an answer").status, 401, "{path}");
        let bearer = format!("Bearer {KEY}");
        let right = rig
            .stranger(path)
            .with_header("Authorization", &bearer)
            .post(LIST)
            .await;
        assert_eq!(right.expect("an answer").status, 200, "{path}");
    }
    for path in ["/api/v1/activity", "/api/v1/servers"] {
        let refused = rig
            .stranger(path)
            .send("GET", b"")
            .await
            .expect("an answer");
        assert_eq!(refused.status, 401, "{path}");
    }
    for path in ["/healthz", "/readyz"] {
        let open = rig
            .stranger(path)
            .send("GET", b"")
            .await
            .expect("an answer");
        assert_eq!(open.status, 200, "{path}");
    }
}

#[tokio::test]
async fn the_key_can_be_waived_for_the_protocol_only() {
    let rig = Rig::with(vec![preset("x", "demo")], |config| {
        config.require_mcp_auth = false;
    })
    .await;
    let open = rig.stranger("/mcp").post(LIST).await.expect("an answer");
    assert_eq!(open.status, 200);
    let closed = rig
        .stranger("/api/v1/activity")
        .send("GET", b"")
        .await
        .expect("an answer");
    assert_eq!(closed.status, 401);
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_turned_away() {
    let rig = rig().await;
    let foreign = rig
        .client("/mcp")
        .with_header("Origin", "https://evil.example");
    assert_eq!(foreign.post(LIST).await.expect("an answer").status, 403);
    let own = rig
        .client("/mcp")
        .with_header("Origin", "http://localhost:3000");
    assert_eq!(own.post(LIST).await.expect("an answer").status, 200);
    let raw = format!(
        "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nX-API-Key: {KEY}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
        LIST.len(),
        text(LIST)
    );
    let answer = rig
        .stranger("/mcp")
        .raw(raw.as_bytes())
        .await
        .expect("an answer");
    assert!(answer.starts_with(b"HTTP/1.1 403"), "{}", text(&answer));
}

/// Which of two `Host` headers counts is read differently by different programs, so neither does.
#[tokio::test]
async fn two_host_headers_are_refused() {
    let rig = rig().await;
    for second in ["localhost", "evil.example"] {
        let raw = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: {second}\r\nX-API-Key: {KEY}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
            LIST.len(),
            text(LIST)
        );
        let answer = rig.stranger("/mcp").raw(raw.as_bytes()).await;
        let answer = answer.expect("an answer");
        assert!(answer.starts_with(b"HTTP/1.1 400"), "{}", text(&answer));
    }
}

#[tokio::test]
async fn without_a_key_no_path_tells_which_servers_there_are() {
    let rig = rig().await;
    let mut answers = Vec::new();
    for path in ["/mcp/s/x", "/mcp/s/unknown", "/mcp/s/", "/mcp/other"] {
        for method in ["POST", "GET", "DELETE", "PUT"] {
            let answer = rig.stranger(path).send(method, LIST).await;
            let answer = answer.expect("an answer");
            assert_eq!(answer.status, 401, "{method} {path}");
            answers.push(text(&answer.body));
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[tokio::test]
async fn only_known_paths_and_methods_are_served() {
    let rig = rig().await;
    for path in [
        "/",
        "/mcp/s/unknown",
        "/mcp/other",
        "/mcpx",
        "/api/v2/activity",
    ] {
        let answer = rig.client(path).post(LIST).await.expect("an answer");
        assert_eq!(answer.status, 404, "{path}");
    }
    let get = rig
        .client("/mcp")
        .send("GET", b"")
        .await
        .expect("an answer");
    assert_eq!(
        (get.status, get.header("allow")),
        (405, Some("GET, POST, DELETE"))
    );
    let bad = rig
        .client("/api/v1/activity?status=nope")
        .send("GET", b"")
        .await
        .expect("an answer");
    assert_eq!(bad.status, 400);
    assert!(
        text(&bad.body).contains("allowed: success"),
        "{}",
        text(&bad.body)
    );
    let none = rig
        .client("/api/v1/activity/01ARZ3NDEKTSV4RRFFQ69G5FAV")
        .send("GET", b"")
        .await;
    assert_eq!(none.expect("an answer").status, 404);
}

#[tokio::test]
async fn a_method_that_a_path_does_not_have_is_refused_with_those_it_has() {
    let rig = rig().await;
    let everything = "GET, HEAD, POST, PATCH, DELETE";
    let cases = [
        ("/healthz", "TRACE", everything),
        ("/readyz", "CONNECT", everything),
        ("/metrics", "TRACE", everything),
        ("/mcp", "TRACE", everything),
        ("/api/v1/status", "TRACE", everything),
        ("/nowhere", "TRACE", everything),
        ("/healthz", "POST", "GET, HEAD"),
        ("/readyz", "OPTIONS", "GET, HEAD"),
        ("/metrics", "DELETE", "GET, HEAD"),
        ("/metrics", "BREW", "GET, HEAD"),
        ("/mcp", "PUT", "GET, POST, DELETE"),
        ("/api/v1/status", "BREW", "GET"),
        ("/events", "BREW", "GET"),
    ];
    for (path, method, allowed) in cases {
        let answer = rig.admin(path).send(method, b"").await.expect("an answer");
        let told = (answer.status, answer.header("allow"));
        assert_eq!(told, (405, Some(allowed)), "{method} {path}");
    }
    for path in ["/healthz", "/readyz", "/metrics"] {
        // Its answer has the length of a body and no body.
        let head = rig.client(path).open("HEAD", b"").await;
        assert_eq!(head.expect("an answer").status, 200, "{path}");
    }
    let proxied = "CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n";
    let answer = rig.stranger("/").raw(proxied.as_bytes()).await;
    let answer = text(&answer.expect("an answer"));
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
}

#[tokio::test]
async fn bodies_are_bounded() {
    let rig = Rig::with(vec![preset("x", "demo")], |config| {
        config.max_message_bytes = 100_000;
    })
    .await;
    let call = |size: usize| {
        let params = format!(
            r#"{{"name":"conforming","arguments":{{"a":"{}"}}}}"#,
            "x".repeat(size)
        );
        request("1", "tools/call", &params)
    };
    let fits = rig
        .client("/mcp/s/x")
        .post(&call(90_000))
        .await
        .expect("an answer");
    assert_eq!(fits.status, 200);
    let large = rig
        .client("/mcp/s/x")
        .post(&call(200_000))
        .await
        .expect("an answer");
    assert_eq!(large.status, 413);
}

#[tokio::test]
async fn messages_that_are_none_are_refused() {
    let rig = rig().await;
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("[]", -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","id":2}"#,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
            -32600,
        ),
    ] {
        let answer = rig
            .client("/mcp")
            .post(body.as_bytes())
            .await
            .expect("an answer");
        assert_eq!((answer.status, error_code(&answer)), (400, code), "{body}");
    }
    let unknown = rig
        .client("/mcp")
        .request("tasks/get", "{}")
        .await
        .expect("an answer");
    assert_eq!((unknown.status, error_code(&unknown)), (200, -32601));
    let nameless = rig
        .client("/mcp")
        .request("tools/call", "{}")
        .await
        .expect("an answer");
    assert_eq!((nameless.status, error_code(&nameless)), (200, -32602));
    let unknown = rig
        .client("/mcp/s/x")
        .call("nothing", "{}")
        .await
        .expect("an answer");
    assert_eq!((unknown.status, error_code(&unknown)), (200, -32602));
}

#[tokio::test]
async fn two_credentials_are_refused() {
    let rig = rig().await;
    let bearer = format!("Bearer {KEY}");
    let same = rig.client("/mcp").with_header("Authorization", &bearer);
    assert_eq!(same.post(LIST).await.expect("an answer").status, 200);
    let other = rig
        .client("/mcp")
        .with_header("Authorization", "Bearer other");
    assert_eq!(other.post(LIST).await.expect("an answer").status, 400);
}
