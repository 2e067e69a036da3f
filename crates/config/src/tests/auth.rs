//! Issuers of tokens, and the address that tokens are for.

use insta::assert_snapshot;

use super::{accepted, refused, warnings};

/// A file with one issuer, whose keys these are.
fn with_issuer(keys: &str) -> String {
    format!(
        r#"{{"public_url": "https://tools.example.com", "auth": {{"issuers": [{{"name": "corp", {keys}}}]}}}}"#
    )
}

#[test]
fn an_issuer_needs_little() {
    let config = accepted(&with_issuer(r#""issuer": "https://id.example.com""#));
    assert_eq!(config.public_host(), Some("tools.example.com"));
    assert_eq!(config.auth.scopes, ["mcp:use"]);
    let issuer = &config.auth.issuers[0];
    assert_eq!(issuer.issuer, "https://id.example.com");
    assert_eq!(issuer.clock_skew.as_secs(), 60);
    assert!(issuer.introspection.client_id.is_none());
}

#[test]
fn the_secret_for_introspection_is_not_shown() {
    let config = accepted(&with_issuer(
        r#""issuer": "https://id.example.com", "introspection": {"client_id": "us", "client_secret": "${env:CRM_TOKEN}"}"#,
    ));
    let shown = config.show();
    assert!(!shown.contains("s3cr3t"), "{shown}");
    assert!(shown.contains("${env:CRM_TOKEN}"), "{shown}");
    assert_eq!(config.redactor().redact("s3cr3t-crm-token"), "[redacted]");
}

#[test]
fn what_an_issuer_must_not_be() {
    for name in [
        "key",
        "cert",
        "local",
        "anonymous",
        "group",
        "",
        "Corp",
        "a:b",
    ] {
        let file = format!(
            r#"{{"public_url": "https://a.example", "auth": {{"issuers": [{{"name": "{name}", "issuer": "https://b.example"}}]}}}}"#
        );
        assert!(refused(&file).contains("/auth/issuers/0"), "{name}");
    }
    assert_snapshot!(refused(&with_issuer(r#""issuer": "http://id.example.com""#)), @r#"
    1:66: /auth/issuers/0: the issuer's keys would come over plain http
    hint: write https://; for an issuer in a private network, set "allow_private": true
    "#);
    assert_snapshot!(refused(&with_issuer(r#""issuer": "https://id.example.com", "introspection": {"client_secret": "x"}"#)), @r#"
    1:66: /auth/issuers/0: "introspection" needs a "client_id"
    hint: set "client_id" to the gateway's own client at the issuer
    "#);
    assert_snapshot!(refused(&with_issuer(r#""issuer": "https://id.example.com", "groups_claim": "groups", "clock_skew": "1h""#)), @r#"
    1:135: /auth/issuers/0/groups_claim: not a JSON pointer
    hint: write a JSON pointer, such as "/groups" or "/realm_access/roles"
    1:159: /auth/issuers/0/clock_skew: more than 10 minutes
    hint: write "60s"; set the clocks if that is not enough
    "#);
    let twice = r#"{"public_url": "https://a.example", "auth": {"issuers": [
        {"name": "a", "issuer": "https://b.example"}, {"name": "a", "issuer": "https://c.example"},
        {"name": "d", "issuer": "https://b.example"}]}}"#;
    assert_snapshot!(refused(twice), @r#"
    2:55: /auth/issuers/1: two issuers have the same name
    hint: callers of two issuers must not have the same names; rename one
    3:9: /auth/issuers/2: two issuers have the same address
    hint: keep one of them; "audiences" can list several
    "#);
}

#[test]
fn plain_http_is_for_this_machine_and_private_networks() {
    for keys in [
        r#""issuer": "http://127.0.0.1:9/""#,
        r#""issuer": "http://localhost:9/realms/x""#,
        r#""issuer": "http://[::1]:9""#,
        r#""issuer": "http://10.0.0.7""#,
        r#""issuer": "http://id.internal", "allow_private": true"#,
    ] {
        accepted(&with_issuer(keys));
    }
}

#[test]
fn tokens_need_an_address_and_encryption() {
    let issuers = r#""auth": {"issuers": [{"name": "a", "issuer": "https://b.example"}]}"#;
    assert_snapshot!(refused(&format!("{{{issuers}}}")), @r#"
    1:10: /auth: tokens are issued for the address of the gateway, and it is not known
    hint: set "public_url" to what users type, such as "https://tools.example.com"
    "#);
    for (public_url, listen, is_accepted) in [
        ("http://127.0.0.1:8080", "127.0.0.1:8080", true),
        ("http://localhost:8080/", "127.0.0.1:8080", true),
        ("https://tools.example.com", "0.0.0.0:8080", true),
        ("http://tools.example.com", "127.0.0.1:8080", false),
        ("http://10.0.0.7:8080", "127.0.0.1:8080", false),
        ("http://127.0.0.1:8080", "0.0.0.0:8080", false),
    ] {
        let file = format!(r#"{{"listen": "{listen}", "public_url": "{public_url}", {issuers}}}"#);
        let read = super::read(&file);
        assert_eq!(read.is_ok(), is_accepted, "{file}");
        if let Err(error) = read {
            assert!(error.to_string().contains("without encryption"), "{error}");
        }
        // Without issuers there are no tokens.
        super::read(&format!(r#"{{"public_url": "{public_url}"}}"#)).expect("usable");
    }
}

#[test]
fn a_public_address_has_no_path() {
    for url in [
        "https://a.example/tools",
        "https://a.example?x",
        "a.example",
        "https://u@a.example",
    ] {
        let why = refused(&format!(r#"{{"public_url": "{url}"}}"#));
        assert!(why.contains("/public_url"), "{why}");
    }
}

#[test]
fn scopes_are_words() {
    for auth in [
        r#"{"scopes": ["mcp use"]}"#,
        r#"{"scopes": [""]}"#,
        r#"{"scope_implies": {"a\"": ["b"]}}"#,
        r#"{"scope_implies": {"a": ["b\\"]}}"#,
    ] {
        let why = refused(&format!(r#"{{"auth": {auth}}}"#));
        assert!(why.contains("not a scope"), "{why}");
    }
}

#[test]
fn what_is_probably_not_meant() {
    assert_snapshot!(warnings(r#"{"auth": {"scopes": []}}"#), @r#"
    1:10: /auth: no token is accepted, because there is no issuer
    hint: list an authorization server in "issuers", or remove "auth"
    1:21: /auth/scopes: every token of an issuer for this gateway opens /mcp, whatever its scopes
    hint: remove the key to ask for "mcp:use", or name a scope
    "#);
    let keyless = r#"{"require_mcp_auth": false, "public_url": "http://localhost:8080",
        "auth": {"issuers": [{"name": "a", "issuer": "https://b.example"}]}}"#;
    assert_snapshot!(warnings(keyless), @r#"
    1:22: /require_mcp_auth: clients without a token are let in too, as "anonymous"
    hint: remove it, so that clients are asked to sign in
    "#);
}
