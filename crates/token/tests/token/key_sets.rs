//! Key sets as issuers and attackers write them.

use countersign_token::{KeySet, KeySetError, Refusal, Token};
use serde_json::{Value, json};

use crate::issuer::{NOW, RESOURCE, claims, issuer, jwk, sign};

fn parse(keys: &[Value]) -> Result<KeySet, KeySetError> {
    KeySet::parse(json!({ "keys": keys }).to_string().as_bytes())
}

fn changed(algorithm: &str, name: &str, value: Value) -> Value {
    let mut key = jwk(algorithm, "p256");
    key[name] = value;
    key
}

#[test]
fn keys_for_other_purposes_are_left_out() {
    let good = jwk("ES256", "good");
    for other in [
        json!({"kty": "oct", "k": "AAAA", "kid": "a"}),
        json!({"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"}),
        json!({"kty": "OKP", "crv": "X25519", "x": "AA"}),
        json!({"kty": "RSA", "n": "AQAB", "e": "AQAB"}),
        json!({}),
        json!(7),
        changed("ES256", "use", json!("enc")),
        changed("ES256", "key_ops", json!(["sign"])),
        changed("ES256", "alg", json!("HS256")),
        changed("ES256", "alg", json!("RS256")),
        changed("ES256", "d", json!("AAAA")),
        changed("ES256", "x", json!("AAAA")),
        changed("ES256", "kid", json!(7)),
    ] {
        let keys = parse(&[other.clone(), good.clone()]).expect("a key set");
        assert_eq!(keys.len(), 1, "{other}");
        assert_eq!(
            parse(std::slice::from_ref(&other)),
            Err(KeySetError::Empty),
            "{other}"
        );
    }
}

#[test]
fn a_key_for_one_algorithm_is_not_used_for_another() {
    let mut key = jwk("RS256", "rsa");
    key["alg"] = json!("RS256");
    let keys = parse(&[key]).expect("a key set");
    let verdict = |algorithm| {
        let text = sign(algorithm, &claims());
        let token = Token::parse(&text).expect("a token");
        issuer().verify(&token, &keys, RESOURCE, NOW).err()
    };
    assert_eq!(verdict("RS256"), None);
    assert_eq!(verdict("PS256"), Some(Refusal::KeyType));
}

#[test]
fn two_keys_of_one_id_are_told_apart_by_their_type() {
    let keys = parse(&[jwk("RS256", "p256"), jwk("ES256", "p256")]).expect("a key set");
    let text = sign("ES256", &claims());
    let token = Token::parse(&text).expect("a token");
    assert!(issuer().verify(&token, &keys, RESOURCE, NOW).is_ok());
}

#[test]
fn a_key_set_is_bounded() {
    let many = vec![json!({}); KeySet::MAX_KEYS];
    let mut full = many.clone();
    full[0] = jwk("ES256", "a");
    assert_eq!(parse(&full).map(|keys| keys.len()), Ok(1));
    full.push(json!({}));
    assert_eq!(parse(&full), Err(KeySetError::TooManyKeys));
    let huge = changed("ES256", "x5c", json!("x".repeat(KeySet::MAX_BYTES)));
    assert_eq!(parse(&[huge]), Err(KeySetError::TooLarge));
}

#[test]
fn a_key_set_of_another_shape_is_refused() {
    for text in [
        "",
        "[]",
        "{}",
        r#"{"keys":{}}"#,
        r#"{"keys":[],"keys":[]}"#,
        r#"{"keys":[{"kty":"EC","kty":"RSA"}]}"#,
        "{\"keys\":[]} trailing",
    ] {
        assert_eq!(
            KeySet::parse(text.as_bytes()),
            Err(KeySetError::Malformed),
            "{text}"
        );
    }
    assert_eq!(parse(&[]), Err(KeySetError::Empty));
}
