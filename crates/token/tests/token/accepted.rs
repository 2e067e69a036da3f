//! Tokens that are accepted, and what is read from them.

use countersign_token::{Issuer, KeySet, Refusal, Token};
use serde_json::json;

use crate::issuer::{
    ALGORITHMS, NOW, RESOURCE, claims, claims_with, issuer, jwk, key_set, sign, sign_text, verify,
};

#[test]
fn every_algorithm_is_accepted_with_its_key() {
    for algorithm in ALGORITHMS {
        let caller = verify(&sign(algorithm, &claims())).expect(algorithm);
        assert_eq!(caller.to_string(), "corp:2482897");
        assert_eq!(caller.expires, NOW + 300);
    }
}

#[test]
fn a_token_without_kid_needs_the_only_key_that_fits() {
    let text = sign_text("ES256", r#"{"alg":"ES256"}"#, &claims().to_string());
    assert!(verify(&text).is_ok(), "one key of the set is for ES256");
    let keys = json!({"keys": [jwk("ES256", "a"), jwk("ES256", "b")]}).to_string();
    let keys = KeySet::parse(keys.as_bytes()).expect("a key set");
    let token = Token::parse(&text).expect("a token");
    let verdict = issuer().verify(&token, &keys, RESOURCE, NOW);
    assert_eq!(verdict, Err(Refusal::UnknownKey));
}

#[test]
fn the_audience_is_the_resource_or_one_that_is_listed() {
    let application = "6e74172b-be56-4843-9ff4-e66a39bb12e3";
    let entra = Issuer {
        audiences: vec![application.to_owned()],
        ..issuer()
    };
    for (audience, is_resource, is_listed) in [
        (json!(RESOURCE), true, true),
        (json!(["https://other.example", RESOURCE]), true, true),
        (json!(application), false, true),
        (json!("https://tools.example.com"), false, false),
        (json!([]), false, false),
        (json!([RESOURCE, 1]), false, false),
        (json!({"a": RESOURCE}), false, false),
    ] {
        let text = sign("ES256", &claims_with(&json!({"aud": audience})));
        let token = Token::parse(&text).expect("a token");
        for (issuer, expected) in [(issuer(), is_resource), (entra.clone(), is_listed)] {
            let verdict = issuer.verify(&token, &key_set(), RESOURCE, NOW);
            assert_eq!(verdict.is_ok(), expected, "{audience}");
        }
    }
}

#[test]
fn the_subject_is_sub_or_else_client_id() {
    let name = |changes| verify(&sign("EdDSA", &claims_with(&changes))).map(|it| it.to_string());
    assert_eq!(
        name(json!({"client_id": "x"})).as_deref(),
        Ok("corp:2482897")
    );
    let service = json!({"sub": null, "client_id": "batch"});
    assert_eq!(name(service).as_deref(), Ok("corp:batch"));
    for unusable in [
        json!(""),
        json!("a\nb"),
        json!("é"),
        json!(7),
        json!("x".repeat(257)),
    ] {
        assert_eq!(name(json!({"sub": unusable})), Err(Refusal::Subject));
    }
    assert_eq!(name(json!({"sub": null})), Err(Refusal::Subject));
}

#[test]
fn groups_are_where_the_pointer_says() {
    let changes = json!({"realm": {"roles/all": ["build", "ops"]}, "team": "one", "bad": [1]});
    let text = sign("EdDSA", &claims_with(&changes));
    let token = Token::parse(&text).expect("a token");
    let groups = |pointer: Option<&str>| {
        let issuer = Issuer {
            groups_claim: pointer.map(str::to_owned),
            ..issuer()
        };
        let caller = issuer.verify(&token, &key_set(), RESOURCE, NOW);
        caller.map(|caller| caller.groups.into_iter().collect::<Vec<_>>().join(" "))
    };
    assert_eq!(
        groups(Some("/realm/roles~1all")).as_deref(),
        Ok("build ops")
    );
    assert_eq!(groups(Some("/realm/roles~1all/1")).as_deref(), Ok("ops"));
    assert_eq!(groups(Some("/team")).as_deref(), Ok("one"));
    assert_eq!(groups(Some("/groups")).as_deref(), Ok(""));
    assert_eq!(groups(None).as_deref(), Ok(""));
    assert_eq!(groups(Some("/bad")), Err(Refusal::Claim));
    assert_eq!(groups(Some("/realm")), Err(Refusal::Claim));
}

#[test]
fn scopes_are_words_or_lists() {
    let scopes = |changes| {
        let caller = verify(&sign("EdDSA", &claims_with(&changes)))?;
        Ok(caller.scopes.into_iter().collect::<Vec<_>>().join(","))
    };
    for (changes, expected) in [
        (json!({}), Ok("")),
        (
            json!({"scope": "mcp:use  crm:write "}),
            Ok("crm:write,mcp:use"),
        ),
        (json!({"scp": ["a", "b"], "scope": "c"}), Ok("a,b,c")),
        (json!({"scp": "a b"}), Ok("a,b")),
        (json!({"scope": {"a": 1}}), Err(Refusal::Claim)),
    ] {
        let found: Result<String, Refusal> = scopes(changes);
        assert_eq!(found.as_deref(), expected.as_ref().copied());
    }
}

#[test]
fn clocks_may_differ_by_the_skew() {
    let accepted = |changes| verify(&sign("EdDSA", &claims_with(&changes))).is_ok();
    assert!(accepted(json!({"exp": NOW - 59})));
    assert!(!accepted(json!({"exp": NOW - 60})));
    assert!(accepted(json!({"nbf": NOW + 60})));
    assert!(!accepted(json!({"nbf": NOW + 61})));
    #[expect(clippy::cast_precision_loss, reason = "a time of these tests fits")]
    let fraction = NOW as f64 + 0.5;
    assert!(accepted(json!({"exp": fraction})));
}
