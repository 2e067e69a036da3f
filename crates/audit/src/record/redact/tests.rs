use proptest::prelude::*;

use super::*;

const PLANTED: &str = "hunter2-correct-horse";

fn clean(text: &str) -> String {
    Redactor::default().redact(text).into_owned()
}

#[test]
fn secrets_in_json_members_go_whole() {
    for (text, expected) in [
        (
            r#"{"password":"hunter2","n":1}"#,
            r#"{"password":"[redacted]","n":1}"#,
        ),
        (r#"{"API-Key" : 12345 }"#, r#"{"API-Key" : "[redacted]"}"#),
        (
            r#"{"access_token":{"a":["x","}"]},"b":2}"#,
            r#"{"access_token":"[redacted]","b":2}"#,
        ),
        (
            r#"{"pass\u0077ord":"x"}"#,
            r#"{"pass\u0077ord":"[redacted]"}"#,
        ),
        (r#"{"password":"cut off he"#, r#"{"password":"[redacted]""#),
        (
            r#"[{"secret":null},"kept"]"#,
            r#"[{"secret":"[redacted]"},"kept"]"#,
        ),
    ] {
        assert_eq!(clean(text), expected);
    }
}

#[test]
fn what_is_no_secret_stays_byte_for_byte() {
    for text in [
        r#"{"id":9007199254740993, "name":"caf\u00e9", "max_tokens":100,"ratio":1.0}"#,
        "The token was not found; see https://example.com/a:b@c for the author's keyboard.",
        "naïve 日本語 text: with = signs",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    ] {
        assert_eq!(clean(text), text);
    }
}

#[test]
fn planted_secrets_vanish_from_every_shape() {
    for text in [
        format!("Authorization: Bearer {PLANTED}"),
        format!("authorization: Basic {PLANTED}\r\nHost: x"),
        format!("Cookie: a={PLANTED}; b={PLANTED}"),
        format!("export API_KEY={PLANTED}"),
        format!("curl -H 'X-Api-Key: {PLANTED}'"),
        format!("postgres://me:{PLANTED}@db.internal/x"),
        format!("client_secret => '{PLANTED}'"),
        format!("-----BEGIN RSA PRIVATE KEY-----\n{PLANTED}\n-----END RSA PRIVATE KEY-----"),
        format!("-----BEGIN PRIVATE KEY-----\n{PLANTED}"),
        format!("see ghp_{PLANTED} and sk-{PLANTED}"),
        format!("eyJhbGciOiJIUzI1NiJ9.{PLANTED}.c2lnbmF0dXJl"),
        serde_json::json!({"content": [{"type": "text", "text": format!("{{\"password\": \"{PLANTED}\"}}")}]}).to_string(),
        serde_json::json!({"text": serde_json::json!({"inner": serde_json::json!({"token": PLANTED}).to_string()}).to_string()}).to_string(),
        serde_json::json!({"headers": {"Authorization": [PLANTED, PLANTED]}}).to_string(),
        serde_json::json!({"note": format!("Authorization: Bearer {PLANTED}\nnext")}).to_string(),
    ] {
        let out = clean(&text);
        assert!(!out.contains("hunter2") && out.contains(MARK), "{out}");
    }
}

#[test]
fn known_values_go_wherever_they_stand() {
    let redactor = Redactor::new([PLANTED.to_owned(), "tiny".to_owned(), "hunter2".to_owned()]);
    assert_eq!(
        redactor.redact(&format!("x{PLANTED}y tiny")),
        "x[redacted]y tiny"
    );
    assert_eq!(
        redactor.redact(&format!(r#"{{"a":"{PLANTED}"}}"#)),
        r#"{"a":"[redacted]"}"#
    );
    assert_eq!(format!("{redactor:?}"), "Redactor { known: 2 }");
}

#[test]
fn deep_and_long_input_is_linear() {
    let deep = format!("{{\"token\":{}", "[".repeat(200_000));
    assert_eq!(clean(&deep), "{\"token\":\"[redacted]\"");
    let dashes = "-----BEGIN ".repeat(20_000);
    assert_eq!(clean(&dashes), dashes);
    let urls = "://".repeat(100_000);
    assert_eq!(clean(&urls), urls);
}

proptest! {
    #[test]
    fn never_panics_and_is_idempotent_on_any_text(text in any::<String>()) {
        let once = clean(&text);
        prop_assert_eq!(clean(&once), once);
    }

    #[test]
    fn json_stays_json(key in "[a-z_]{1,12}", value in any::<String>()) {
        let text = serde_json::json!({key: value, "password": [1, {"x": 2}]}).to_string();
        let out = clean(&text);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{}", out);
    }
}
