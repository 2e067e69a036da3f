//! Rules about callers, and what is said of rules that cannot mean what they say.

use super::{accepted, refused, warnings};
use crate::{AccessDefault, ItemKind};

/// A file with this in it, beside a server.
fn file(members: &str) -> String {
    format!(r#"{{{members}, "mcpServers": {{"crm": {{"command": "x"}}}}}}"#)
}

/// What is said of rules, without their places.
fn refused_rules(default: &str, rules: &str) -> String {
    let text = refused(&file(&format!(
        r#""access": {{"default": "{default}", "rules": [{rules}]}}"#
    )));
    let lines = text.lines().map(|line| match line.split_once(": /access") {
        Some((_, rest)) => rest.split_once(": ").map_or(rest, |(_, rest)| rest),
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn rules_are_read_and_shown_as_they_are_written() {
    let rules = r#"{"callers":["group:build","cert:*"],"allow":["*:*"],"deny":["crm:delete_*","crm:prompt/x"],"scopes":[],"where":{"read_only":true}},{"callers":["corp:*"],"allow":["crm:update_*","crm:resource/file:*"],"deny":[],"scopes":["crm:write"]}"#;
    let limits = r#"[{"callers":["*"],"calls":"600/m","burst":60,"concurrent":16}]"#;
    let issuers = r#""public_url": "https://tools.example.com", "auth": {"issuers": [{"name": "corp", "issuer": "https://id.example.com"}]}"#;
    let config = accepted(&file(&format!(
        r#""access": {{"default": "deny", "rules": [{rules}]}}, "limits": {limits}, {issuers}"#
    )));
    assert_eq!(config.access.default, AccessDefault::Deny);
    assert!(config.access.rules[0].allow[0].matches("crm", ItemKind::Tool, "a"));
    let shown: serde_json::Value = serde_json::from_str(&config.show()).expect("JSON");
    let written: serde_json::Value = serde_json::from_str(&format!("[{rules}]")).expect("JSON");
    assert_eq!(shown["access"]["rules"], written);
    let written: serde_json::Value = serde_json::from_str(limits).expect("JSON");
    assert_eq!(shown["limits"], written);
    assert!(accepted("{}").access.is_open());
    assert!(accepted(r#"{"access": {}}"#).access.is_open());
    assert!(
        !accepted(r#"{"access": {"default": "deny"}}"#)
            .access
            .is_open()
    );
}

#[test]
fn callers_that_are_not_known_are_told() {
    let digest = "0".repeat(64);
    let callers = format!(r#""callers": [{{"name": "ci", "key_sha256": "{digest}"}}]"#);
    let told = |patterns: &str| {
        let rule = format!(r#"{{"callers": [{patterns}], "deny": ["crm:a"]}}"#);
        let limit = format!(r#"{{"callers": [{patterns}], "calls": "1/s"}}"#);
        warnings(&file(&format!(
            r#"{callers}, "access": {{"default": "allow", "rules": [{rule}]}}, "limits": [{limit}]"#
        )))
    };
    let known = r#""key:ci", "key:client", "key:operator", "key:*", "cert:*", "local:7", "anonymous", "group:g", "*""#;
    assert_eq!(told(known), "");
    let misspelt = told(r#""key:cy""#);
    assert_eq!(
        misspelt.matches("no caller is called \"key:cy\"").count(),
        2
    );
    assert!(misspelt.contains("did you mean \"key:ci\"?"), "{misspelt}");
    let issuer = told(r#""corp:*""#);
    assert!(issuer.contains("no issuer is called \"corp\""), "{issuer}");
    assert!(told(r#""cert:ci""#).contains("no caller is called"));
}

#[test]
fn a_rule_that_says_nothing_is_refused() {
    for (rule, message) in [
        (r#"{"allow": ["crm:a"]}"#, "a rule needs callers"),
        (
            r#"{"callers": ["*"]}"#,
            "the rule neither allows nor denies anything",
        ),
        (
            r#"{"callers": ["*"], "deny": ["crm:a"], "scopes": ["s"]}"#,
            "\"scopes\" narrows \"allow\", and this rule has none",
        ),
        (
            r#"{"callers": ["*"], "deny": ["crm:a"], "where": {"read_only": true}}"#,
            "\"where\" narrows \"allow\", and this rule has none",
        ),
        (
            r#"{"callers": ["*"], "allow": ["crm:get_a"], "deny": ["crm:get_*"]}"#,
            "the same rule denies it with \"crm:get_*\"",
        ),
        (
            r#"{"callers": ["*"], "allow": ["crm:a"], "hold": ["crm:a"]}"#,
            "\"hold\" is reserved for approvals, which this version does not have",
        ),
        (
            r#"{"callers": ["*"], "allow": ["crm"]}"#,
            "\"crm\" is not an item",
        ),
        (
            r#"{"callers": ["ci"], "allow": ["crm:a"]}"#,
            "\"ci\" is not a caller",
        ),
        (
            r#"{"callers": ["*"], "allow": ["crm:a"], "scopes": ["a b"]}"#,
            "not a scope",
        ),
    ] {
        let text = refused_rules("deny", rule);
        assert!(text.starts_with(message), "{rule}: {text}");
        assert_eq!(text.matches("hint: ").count(), 1, "{text}");
    }
    let allowed = refused_rules("allow", r#"{"callers": ["*"], "allow": ["crm:a"]}"#);
    assert!(
        allowed.starts_with("everything is allowed by default"),
        "{allowed}"
    );
    let missing = refused(&file(
        r#""access": {"rules": [{"callers": ["*"], "deny": ["crm:a"]}]}"#,
    ));
    assert!(missing.contains("access needs a \"default\""), "{missing}");
}

#[test]
fn a_misspelt_server_is_found() {
    let text = refused_rules("allow", r#"{"callers": ["*"], "deny": ["cmr:a"]}"#);
    assert_eq!(
        text,
        "no server is called \"cmr\"\nhint: did you mean \"crm\"?"
    );
    accepted(&file(
        r#""access": {"default": "allow", "rules": [{"callers": ["*"], "deny": ["c*:a", "*:b"]}]}"#,
    ));
}

#[test]
fn a_limit_that_limits_nothing_is_refused() {
    for (limit, message) in [
        (r#"{"callers": ["*"]}"#, "the limit limits nothing"),
        (r#"{"calls": "5/s"}"#, "a limit needs callers"),
        (
            r#"{"callers": ["*"], "concurrent": 1, "burst": 5}"#,
            "\"burst\" says how many",
        ),
        (
            r#"{"callers": ["*"], "calls": "5 per second"}"#,
            "\"5 per second\" is not a number of calls in a time",
        ),
    ] {
        let text = refused(&file(&format!(r#""limits": [{limit}]"#)));
        assert!(text.contains(message), "{limit}: {text}");
    }
}
