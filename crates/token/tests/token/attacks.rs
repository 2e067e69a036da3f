//! Tokens that have to be refused, each for its own reason. Most are signed by the issuer's own key, so that nothing but the
//! rule in question refuses them.

use countersign_token::{Refusal, Token};
use ring::hmac;
use serde_json::json;

use crate::issuer::{
    ALGORITHMS, NOW, RESOURCE, URL, claims, claims_with, encode, key_id, rsa_components, sign,
    sign_text, verify,
};

/// Signs the usual claims with ES256 under another header.
fn with_header(header: &str) -> String {
    sign_text("ES256", header, &claims().to_string())
}

fn refusal(text: &str) -> Option<Refusal> {
    verify(text).err()
}

fn refusal_with(changes: &serde_json::Value) -> Option<Refusal> {
    refusal(&sign("ES256", &claims_with(changes)))
}

#[test]
fn alg_none_is_refused() {
    for name in ["none", "None", "NONE", "nOnE", ""] {
        let header = encode(json!({"alg": name, "kid": "rsa"}).to_string());
        let text = format!("{header}.{}.", encode(claims().to_string()));
        assert_eq!(refusal(&text), Some(Refusal::Algorithm), "{name}");
    }
}

#[test]
fn hs256_with_the_public_key_as_secret_is_refused() {
    let secret = hmac::Key::new(hmac::HMAC_SHA256, &rsa_components().n);
    let header = encode(r#"{"alg":"HS256","kid":"rsa"}"#);
    let message = format!("{header}.{}", encode(claims().to_string()));
    let signature = encode(hmac::sign(&secret, message.as_bytes()));
    let text = format!("{message}.{signature}");
    assert_eq!(refusal(&text), Some(Refusal::Algorithm));
}

#[test]
fn a_key_of_another_type_is_refused() {
    for signed in ALGORITHMS {
        for named in ["rsa", "p256", "p384", "ed"] {
            let header = json!({"alg": signed, "kid": named}).to_string();
            let text = sign_text(signed, &header, &claims().to_string());
            let expected = (key_id(signed) != named).then_some(Refusal::KeyType);
            assert_eq!(refusal(&text), expected, "{signed} {named}");
        }
    }
}

#[test]
fn a_signature_of_another_algorithm_of_the_same_key_is_refused() {
    for signed in &ALGORITHMS[..6] {
        for claimed in &ALGORITHMS[..6] {
            let header = json!({"alg": claimed, "kid": "rsa"}).to_string();
            let text = sign_text(signed, &header, &claims().to_string());
            let expected = (signed != claimed).then_some(Refusal::Signature);
            assert_eq!(refusal(&text), expected, "{signed} {claimed}");
        }
    }
}

#[test]
fn a_changed_token_is_refused() {
    let text = sign("ES256", &claims());
    let (message, signature) = text.rsplit_once('.').expect("three parts");
    let (header, _) = message.split_once('.').expect("three parts");
    let other = encode(claims_with(&json!({"sub": "1"})).to_string());
    let changed = format!("{header}.{other}.{signature}");
    assert_eq!(refusal(&changed), Some(Refusal::Signature));
    for end in ["", "AAAA"] {
        let changed = format!("{message}.{end}");
        assert_eq!(refusal(&changed), Some(Refusal::Signature), "{end}");
    }
}

#[test]
fn a_duplicate_alg_is_refused() {
    let text = with_header(r#"{"alg":"ES256","alg":"ES256","kid":"p256"}"#);
    assert_eq!(refusal(&text), Some(Refusal::DuplicateMember));
    let text = with_header(r#"{"alg":"ES256","\u0061lg":"none","kid":"p256"}"#);
    assert_eq!(refusal(&text), Some(Refusal::DuplicateMember));
}

#[test]
fn duplicate_claims_are_refused_at_any_depth() {
    for extra in [r#","sub":"root""#, r#","a":{"b":[{"c":1,"c":2}]}"#] {
        let mut text = claims().to_string();
        text.insert_str(text.len() - 1, extra);
        let text = sign_text("ES256", r#"{"alg":"ES256","kid":"p256"}"#, &text);
        assert_eq!(refusal(&text), Some(Refusal::DuplicateMember), "{extra}");
    }
}

#[test]
fn crit_is_refused() {
    for value in [r#"["exp"]"#, r#"["b64"]"#, "[]", "null"] {
        let text = with_header(&format!(r#"{{"alg":"ES256","kid":"p256","crit":{value}}}"#));
        assert_eq!(refusal(&text), Some(Refusal::Critical), "{value}");
    }
}

#[test]
fn keys_and_addresses_of_keys_in_the_token_are_ignored() {
    let own = json!({"kty": "RSA", "n": "AQAB", "e": "AQAB"});
    let header = json!({"alg": "ES256", "kid": "attacker", "jku": "http://169.254.169.254/keys",
        "x5u": "https://attacker.example/", "jwk": own, "x5c": ["AAAA"]});
    assert_eq!(
        refusal(&with_header(&header.to_string())),
        Some(Refusal::UnknownKey)
    );
    let mut header = header;
    header["kid"] = json!("p256");
    assert_eq!(refusal(&with_header(&header.to_string())), None);
}

#[test]
fn kid_is_only_compared() {
    for id in [
        "../../../../etc/passwd",
        "/dev/null",
        "https://attacker.example/keys",
        "rsa' OR '1'='1",
        "\0",
        &"x".repeat(10_000),
    ] {
        let text = with_header(&json!({"alg": "ES256", "kid": id}).to_string());
        assert_eq!(refusal(&text), Some(Refusal::UnknownKey), "{id}");
    }
    for header in [
        r#"{"alg":"ES256","kid":7}"#,
        r#"{"alg":"ES256","kid":null}"#,
    ] {
        assert_eq!(refusal(&with_header(header)), Some(Refusal::Malformed));
    }
}

#[test]
fn another_issuer_is_refused() {
    for issuer in [
        json!(format!("{URL}/")),
        json!(URL.to_uppercase()),
        json!(format!(" {URL}")),
        json!("https://id.example.com.attacker.example"),
        json!([URL]),
        json!(null),
    ] {
        assert_eq!(refusal_with(&json!({"iss": issuer})), Some(Refusal::Issuer));
    }
}

#[test]
fn a_wrong_or_absent_audience_is_refused() {
    for audience in [
        json!("https://other.example/mcp"),
        json!(format!("{RESOURCE}/")),
        json!(format!("{RESOURCE}/s/crm")),
        json!(""),
        json!(null),
    ] {
        assert_eq!(
            refusal_with(&json!({"aud": audience})),
            Some(Refusal::Audience)
        );
    }
}

#[test]
fn an_expired_token_is_refused() {
    assert_eq!(
        refusal_with(&json!({"exp": NOW - 3600})),
        Some(Refusal::Expired)
    );
    assert_eq!(refusal_with(&json!({"exp": 0})), Some(Refusal::Expired));
}

#[test]
fn a_token_without_a_usable_expiry_is_refused() {
    for expiry in [
        json!(null),
        json!("1900000000"),
        json!(-1),
        json!(1e300),
        json!([NOW]),
    ] {
        assert_eq!(
            refusal_with(&json!({"exp": expiry})),
            Some(Refusal::NoExpiry)
        );
    }
}

#[test]
fn a_token_before_its_time_is_refused() {
    for start in [json!(NOW + 3600), json!("0"), json!(-1)] {
        assert_eq!(
            refusal_with(&json!({"nbf": start})),
            Some(Refusal::NotYetValid)
        );
    }
}

#[test]
fn an_id_token_is_refused_even_for_our_audience() {
    let id_token = json!({"nonce": "n-0S6_WzA2Mj"});
    let hashed = json!({"at_hash": "77QmUPtjPfzWtF2AnpK9RQ"});
    for changes in [id_token, hashed, json!({"typ": "ID"})] {
        let claims = claims_with(&changes).to_string();
        let text = sign_text(
            "ES256",
            r#"{"alg":"ES256","typ":"JWT","kid":"p256"}"#,
            &claims,
        );
        assert_eq!(refusal(&text), Some(Refusal::TokenType), "{changes}");
    }
    // Keycloak's access tokens say so themselves, and those of older versions have a nonce.
    let keycloak = claims_with(&json!({"typ": "Bearer", "nonce": "x"})).to_string();
    let text = sign_text(
        "ES256",
        r#"{"alg":"ES256","typ":"JWT","kid":"p256"}"#,
        &keycloak,
    );
    assert_eq!(refusal(&text), None);
}

#[test]
fn a_jwt_of_another_type_is_refused() {
    for name in [
        "dpop+jwt",
        "logout+jwt",
        "JWE",
        "application/secevent+jwt",
        "",
    ] {
        let text = with_header(&json!({"alg": "ES256", "typ": name, "kid": "p256"}).to_string());
        assert_eq!(refusal(&text), Some(Refusal::TokenType), "{name}");
    }
}

#[test]
fn a_dpop_bound_token_is_refused_as_a_bearer_token() {
    for bound in [
        json!({"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}),
        json!({"x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"}),
        json!({}),
    ] {
        assert_eq!(refusal_with(&json!({"cnf": bound})), Some(Refusal::Bound));
    }
}

#[test]
fn a_huge_token_is_refused() {
    let text = sign("ES256", &claims_with(&json!({"pad": "x".repeat(13_000)})));
    assert!(text.len() > Token::MAX_BYTES);
    assert_eq!(refusal(&text), Some(Refusal::TooLarge));
}

#[test]
fn deep_claims_are_refused() {
    let deep = format!(
        r#"{{"iss":"{URL}","a":{}{}}}"#,
        "[".repeat(4000),
        "]".repeat(4000)
    );
    let text = sign_text("ES256", r#"{"alg":"ES256"}"#, &deep);
    assert_eq!(refusal(&text), Some(Refusal::Malformed));
}

#[test]
fn other_shapes_are_refused() {
    let good = sign("ES256", &claims());
    let parts: Vec<&str> = good.split('.').collect();
    let [header, body, signature] = parts[..] else {
        panic!("three parts");
    };
    for text in [
        String::new(),
        "..".to_owned(),
        format!("{header}.{body}"),
        format!("{good}."),
        format!("{good}.{header}.{body}"),
        format!("{header}.{body}.{signature}="),
        format!("{header}.{body}.{signature} "),
        format!("{header}\n.{body}.{signature}"),
        format!("{}.{body}.{signature}", encode("[]")),
        format!("{}.{body}.{signature}", encode("{\"alg\":\"ES256\"} x")),
        format!("{header}.{}.{signature}", encode(b"{\"iss\":\"\xff\"}")),
        format!("{header}.{}.{signature}", encode(r#"{"iss":"\ud800"}"#)),
    ] {
        assert_eq!(refusal(&text), Some(Refusal::Malformed), "{text}");
    }
}

#[test]
fn refusals_do_not_quote_the_token() {
    let canary = "c4n4ry";
    let changes = json!({"sub": canary, "exp": 1, "iss": canary});
    let header = json!({"alg": canary, "kid": canary}).to_string();
    let texts = [
        sign("ES256", &claims_with(&changes)),
        sign_text("ES256", &header, &claims().to_string()),
        canary.to_owned(),
    ];
    for text in &texts {
        let why = verify(text).expect_err("a refusal");
        assert!(!format!("{why} {why:?}").contains(canary));
    }
    let token = Token::parse(&texts[0]).expect("a token");
    assert!(!format!("{token:?}").contains(canary));
}
