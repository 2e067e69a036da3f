//! `oauth` of a server: what it may say, and where.

use super::refused;
use crate::{
    Config, Environment, OAuthGrant, ResourceParameter, SigningAlgorithm, check_api_change, parse,
};

fn config(server: &str) -> Config {
    let environment = Environment::new(|name| Some(format!("value of {name}")), None);
    let file = format!(r#"{{"mcpServers": {{"crm": {server}}}}}"#);
    parse(&file, &environment).expect("a configuration").0
}

#[test]
fn a_server_with_a_url_may_need_a_token() {
    let none = config(r#"{"url": "https://crm.example/mcp"}"#);
    assert!(none.servers[0].oauth.is_none());
    let usual = config(r#"{"url": "https://crm.example/mcp", "oauth": {}}"#);
    let oauth = usual.servers[0].oauth.as_ref().expect("oauth");
    assert_eq!(oauth.grant, OAuthGrant::AuthorizationCode);
    assert_eq!(oauth.resource, ResourceParameter::Send);
    assert!(!none.servers[0].is_reached_like(&usual.servers[0]));
    let secret = config(
        r#"{"url": "https://crm.example/mcp", "oauth": {"grant": "client_credentials", "client_id": "robot", "client_secret": "${env:SECRET}"}}"#,
    );
    let shown = secret.show();
    assert!(
        shown.contains(r#""client_secret": "[redacted, from ${env:SECRET}]""#),
        "{shown}"
    );
    assert!(!shown.contains("value of SECRET"), "{shown}");
    assert!(!format!("{secret:?}").contains("value of SECRET"));
}

#[test]
fn what_cannot_work_is_refused_with_a_next_step() {
    for (server, message, hint) in [
        (
            r#"{"command": "x", "oauth": {}}"#,
            "is for a server with a \"url\"",
            "\"env\"",
        ),
        (
            r#"{"url": "https://a.example/", "headers": {"authorization": "Bearer x"}, "oauth": {}}"#,
            "\"oauth\" and an \"Authorization\" header are both given",
            "keep one",
        ),
        (
            r#"{"url": "https://a.example/", "oauth": {"credentials": "caller", "grant": "client_credentials"}}"#,
            "knows no callers",
            "remove one",
        ),
        (
            r#"{"url": "https://a.example/", "isolation": "shared", "oauth": {"credentials": "caller"}}"#,
            "beside \"isolation\"",
            "remove \"isolation\"",
        ),
        (
            r#"{"url": "https://a.example/", "oauth": {"grant": "client_credentials", "client_id": "x"}}"#,
            "needs a \"client_id\" and a \"client_secret\"",
            "authorization server",
        ),
        (
            r#"{"url": "https://a.example/", "oauth": {"client_secret": "x"}}"#,
            "without a \"client_id\"",
            "give both",
        ),
        (
            r#"{"url": "http://a.example/", "oauth": {}}"#,
            "without TLS",
            "https://",
        ),
        (
            r#"{"url": "https://a.example/", "oauth": {"scopes": ["a b"]}}"#,
            "a scope",
            "without spaces",
        ),
        (
            r#"{"url": "https://a.example/", "oauth": {"client_metadata_url": "http://b.example/x"}}"#,
            "https:// address with a path",
            "client.json",
        ),
        (
            r#"{"url": "https://a.example/", "oauth": {"resource": "none"}}"#,
            "unknown value",
            "omit",
        ),
    ] {
        let said = refused(&format!(r#"{{"mcpServers": {{"crm": {server}}}}}"#));
        assert!(
            said.contains(message) && said.contains(hint),
            "{server}: {said}"
        );
    }
}

#[test]
fn a_token_may_go_to_this_machine_or_a_private_network_without_tls() {
    for local in [
        "http://127.0.0.1:1/",
        "http://localhost/mcp",
        "http://[::1]:2/",
        "http://10.0.0.1/",
    ] {
        config(&format!(r#"{{"url": "{local}", "oauth": {{}}}}"#));
    }
    config(r#"{"url": "http://crm.internal/", "oauth": {"allow_private": true}}"#);
}

#[test]
fn a_client_has_one_way_to_prove_who_it_is() {
    for (server, message, hint) in [
        (
            r#"{"url": "https://a.example/", "oauth": {"private_key_file": "x.pem"}}"#,
            "without a \"client_id\"",
            "give both",
        ),
        (
            r#"{"url": "https://a.example/", "oauth": {"client_id": "a", "client_secret": "x", "private_key": "y"}}"#,
            "more than one of",
            "keep the one",
        ),
        (
            r#"{"url": "https://a.example/", "oauth": {"client_id": "a", "client_secret": "x", "token_endpoint_auth_method": "private_key_jwt"}}"#,
            "does not fit the client",
            "with a private key",
        ),
        (
            r#"{"url": "https://a.example/", "oauth": {"client_id": "a", "key_id": "k"}}"#,
            "are for a private key",
            "private_key_file",
        ),
    ] {
        let said = refused(&format!(r#"{{"mcpServers": {{"crm": {server}}}}}"#));
        assert!(
            said.contains(message) && said.contains(hint),
            "{server}: {said}"
        );
    }
}

#[test]
fn a_private_key_is_not_shown() {
    let config = config(
        r#"{"url": "https://crm.example/mcp", "oauth": {"grant": "client_credentials", "client_id": "robot", "private_key": "${env:KEY}", "key_id": "k1", "signing_algorithm": "ES256"}}"#,
    );
    let oauth = config.servers[0].oauth.as_ref().expect("oauth");
    assert!(oauth.has_private_key());
    assert_eq!(oauth.signing_algorithm, SigningAlgorithm::Es256);
    let shown = config.show();
    assert!(
        shown.contains(r#""private_key": "[redacted, from ${env:KEY}]""#),
        "{shown}"
    );
    assert!(!shown.contains("value of KEY"), "{shown}");
    assert!(!format!("{config:?}").contains("value of KEY"));
}

#[test]
fn a_client_secret_is_not_sent_elsewhere_over_the_api() {
    let file = |url: &str, oauth: &str| {
        format!(r#"{{"mcpServers": {{"crm": {{"url": "{url}", "oauth": {oauth}}}}}}}"#)
    };
    let secret = r#"{"client_id": "a", "client_secret": "${env:S}"}"#;
    let before = file("https://a.example/", secret);
    check_api_change(&before, &before).expect("nothing changes");
    check_api_change("{}", &file("https://a.example/", "{}")).expect("no secret");
    for after in [
        file("https://b.example/", secret),
        file(
            "https://a.example/",
            r#"{"client_id": "a", "client_secret": "${env:T}"}"#,
        ),
        file(
            "https://a.example/",
            r#"{"client_id": "a", "client_secret": "${env:S}", "allow_private": true}"#,
        ),
        file(
            "https://a.example/",
            r#"{"client_id": "a", "private_key": "${env:S}"}"#,
        ),
        file(
            "https://a.example/",
            r#"{"client_id": "a", "private_key_file": "key.pem"}"#,
        ),
    ] {
        check_api_change(&before, &after).expect_err("a secret would go elsewhere");
        check_api_change("{}", &after).expect_err("a secret would go somewhere");
    }
}
