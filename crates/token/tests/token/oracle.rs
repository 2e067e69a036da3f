//! `jsonwebtoken` with `RustCrypto` as the oracle: it signs tokens that have to be accepted, and accepts every token that is
//! accepted here.

use countersign_token::{KeySet, Token};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::issuer::{
    ALGORITHMS, KEYS, NOW, RESOURCE, URL, claims, claims_with, issuer, jwk, key_id, key_set, sign,
    verify,
};

fn algorithm(name: &str) -> Algorithm {
    name.parse().expect("an algorithm of the oracle")
}

/// The private key as the oracle wants it. For RSA it wants what is inside the PKCS #8 envelope.
fn encoding_key(name: &str) -> EncodingKey {
    match name {
        "ES256" => EncodingKey::from_ec_der(&KEYS.p256),
        "ES384" => EncodingKey::from_ec_der(&KEYS.p384),
        "EdDSA" => EncodingKey::from_ed_der(&KEYS.ed25519),
        _ => EncodingKey::from_rsa_der(&KEYS.rsa[RSA_ENVELOPE..]),
    }
}

/// The bytes of PKCS #8 before an RSA key of 2048 bits: version, algorithm and the heads of the parts.
const RSA_ENVELOPE: usize = 26;

fn oracle(name: &str, text: &str) -> Result<Value, jsonwebtoken::errors::Error> {
    let jwk = serde_json::from_value(jwk(name, key_id(name))).expect("a JWK");
    let key = DecodingKey::from_jwk(&jwk).expect("a key");
    let mut rules = Validation::new(algorithm(name));
    rules.set_audience(&[RESOURCE]);
    rules.set_issuer(&[URL]);
    rules.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
    // Its clock is the system's, which these tests do not follow.
    rules.validate_exp = false;
    decode(text, &key, &rules).map(|token| token.claims)
}

#[test]
fn tokens_that_the_oracle_signs_are_accepted() {
    for name in ALGORITHMS {
        let mut header = Header::new(algorithm(name));
        header.kid = Some(key_id(name).to_owned());
        let text = encode(&header, &claims(), &encoding_key(name)).expect("a token");
        let caller = verify(&text).expect(name);
        assert_eq!(caller.to_string(), "corp:2482897");
    }
}

#[test]
fn tokens_that_are_signed_here_are_accepted_by_the_oracle() {
    for name in ALGORITHMS {
        let found = oracle(name, &sign(name, &claims())).expect(name);
        assert_eq!(found, claims());
    }
}

fn change() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just(json!(RESOURCE)),
        Just(json!(URL)),
        Just(json!(null)),
        Just(json!([RESOURCE, "x"])),
        Just(json!(7)),
        Just(json!([])),
        "[a-z]{0,3}".prop_map(Value::from),
    ];
    let name = prop_oneof!["iss", "aud", "sub", "exp", "scope", "extra"];
    (name, text).prop_map(|(name, value)| json!({ name: value }))
}

proptest! {
    #[test]
    fn what_is_accepted_is_accepted_by_the_oracle(
        change in change(),
        flip in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let mut text = sign("EdDSA", &claims_with(&change)).into_bytes();
        if let Some((index, byte)) = flip {
            *index.get_mut(&mut text) = byte;
        }
        let Ok(text) = String::from_utf8(text) else {
            return Ok(());
        };
        if verify(&text).is_ok() {
            prop_assert!(oracle("EdDSA", &text).is_ok(), "{change}");
        }
    }

    #[test]
    fn any_text_is_refused_without_a_panic(text in "\\PC{0,200}") {
        prop_assert!(verify(&text).is_err());
        prop_assert!(KeySet::parse(text.as_bytes()).is_err());
    }

    #[test]
    fn any_header_and_claims_are_read_without_a_panic(
        header in any::<Vec<u8>>(),
        body in any::<Vec<u8>>(),
    ) {
        let text = format!("{}.{}.", crate::issuer::encode(header), crate::issuer::encode(body));
        if let Ok(token) = Token::parse(&text) {
            prop_assert!(issuer().verify(&token, &key_set(), RESOURCE, NOW).is_err());
        }
    }
}
