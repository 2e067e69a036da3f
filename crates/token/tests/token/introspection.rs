//! Opaque tokens: what the introspection endpoint answers is held to the same rules.

use countersign_token::Refusal;
use serde_json::{Value, json};

use crate::issuer::{NOW, RESOURCE, claims_with, issuer};

fn check(changes: &Value) -> Result<String, Refusal> {
    let mut response = claims_with(changes);
    if response.get("active").is_none() {
        response["active"] = json!(true);
    }
    let response = response.to_string();
    let caller = issuer().check_introspection(response.as_bytes(), RESOURCE, NOW)?;
    Ok(caller.to_string())
}

#[test]
fn an_active_token_is_accepted() {
    assert_eq!(check(&json!({})).as_deref(), Ok("corp:2482897"));
    assert_eq!(check(&json!({"iss": null})).as_deref(), Ok("corp:2482897"));
}

#[test]
fn the_rules_are_those_of_signed_tokens() {
    for (changes, expected) in [
        (json!({"active": false}), Refusal::Inactive),
        (json!({"active": "true"}), Refusal::Inactive),
        (json!({"iss": "https://other.example"}), Refusal::Issuer),
        (json!({"aud": null}), Refusal::Audience),
        (json!({"exp": null}), Refusal::NoExpiry),
        (json!({"exp": NOW - 61}), Refusal::Expired),
        (json!({"nbf": NOW + 61}), Refusal::NotYetValid),
        (json!({"cnf": {"jkt": "x"}}), Refusal::Bound),
        (json!({"sub": null}), Refusal::Subject),
    ] {
        assert_eq!(check(&changes), Err(expected), "{changes}");
    }
    let check = |text: &[u8]| issuer().check_introspection(text, RESOURCE, NOW).err();
    assert_eq!(check(b"<html>"), Some(Refusal::Malformed));
    let twice = br#"{"active":false,"active":true}"#;
    assert_eq!(check(twice), Some(Refusal::DuplicateMember));
}
