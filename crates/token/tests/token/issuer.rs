//! An issuer for tests: private keys, their key set, and tokens that are signed with them.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use countersign_token::{Caller, Issuer, KeySet, Refusal, Token};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384,
    RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};
use serde_json::{Value, json};

/// The time at which all tests take place.
pub(crate) const NOW: u64 = 1_800_000_000;
pub(crate) const RESOURCE: &str = "https://tools.example.com/mcp";
pub(crate) const URL: &str = "https://id.example.com";
pub(crate) const ALGORITHMS: [&str; 9] = [
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA",
];

/// Made for these tests; it guards nothing.
const RSA_PEM: &str = include_str!("keys/rsa.pem");

/// The private keys, in PKCS #8.
pub(crate) struct PrivateKeys {
    pub(crate) rsa: Vec<u8>,
    pub(crate) p256: Vec<u8>,
    pub(crate) p384: Vec<u8>,
    pub(crate) ed25519: Vec<u8>,
}

pub(crate) static KEYS: LazyLock<PrivateKeys> = LazyLock::new(|| {
    let random = SystemRandom::new();
    let ecdsa = |curve| {
        let key = EcdsaKeyPair::generate_pkcs8(curve, &random);
        key.expect("a key").as_ref().to_vec()
    };
    let body: String = RSA_PEM
        .lines()
        .filter(|line| !line.starts_with('-'))
        .collect();
    PrivateKeys {
        rsa: STANDARD.decode(body).expect("base64"),
        p256: ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
        p384: ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
        ed25519: Ed25519KeyPair::generate_pkcs8(&random)
            .expect("a key")
            .as_ref()
            .to_vec(),
    }
});

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn rsa() -> RsaKeyPair {
    RsaKeyPair::from_pkcs8(&KEYS.rsa).expect("a key")
}

fn ecdsa(algorithm: &str) -> EcdsaKeyPair {
    let (curve, key) = match algorithm {
        "ES256" => (&ECDSA_P256_SHA256_FIXED_SIGNING, &KEYS.p256),
        _ => (&ECDSA_P384_SHA384_FIXED_SIGNING, &KEYS.p384),
    };
    EcdsaKeyPair::from_pkcs8(curve, key, &SystemRandom::new()).expect("a key")
}

fn ed25519() -> Ed25519KeyPair {
    Ed25519KeyPair::from_pkcs8_maybe_unchecked(&KEYS.ed25519).expect("a key")
}

/// Modulus and exponent of the RSA key.
pub(crate) fn rsa_components() -> PublicKeyComponents<Vec<u8>> {
    PublicKeyComponents::from(rsa().public())
}

/// The JWK of the key for an algorithm.
pub(crate) fn jwk(algorithm: &str, id: &str) -> Value {
    match algorithm {
        "ES256" | "ES384" => {
            let pair = ecdsa(algorithm);
            let (x, y) = pair.public_key().as_ref()[1..].split_at(if algorithm == "ES256" {
                32
            } else {
                48
            });
            let curve = format!("P-{}", &algorithm[2..]);
            json!({"kty": "EC", "crv": curve, "x": encode(x), "y": encode(y), "kid": id})
        }
        "EdDSA" => {
            let x = encode(ed25519().public_key());
            json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": id})
        }
        _ => {
            let PublicKeyComponents { n, e } = rsa_components();
            json!({"kty": "RSA", "n": encode(n), "e": encode(e), "kid": id, "use": "sig"})
        }
    }
}

/// The key set of the issuer: `rsa`, `p256`, `p384`, `ed`.
pub(crate) fn key_set() -> KeySet {
    let keys = json!({"keys": [
        jwk("RS256", "rsa"), jwk("ES256", "p256"), jwk("ES384", "p384"), jwk("EdDSA", "ed"),
    ]});
    KeySet::parse(keys.to_string().as_bytes()).expect("a key set")
}

/// The `kid` of the key for an algorithm.
pub(crate) fn key_id(algorithm: &str) -> &'static str {
    match algorithm {
        "ES256" => "p256",
        "ES384" => "p384",
        "EdDSA" => "ed",
        _ => "rsa",
    }
}

/// Signs bytes with the key for an algorithm.
pub(crate) fn signature(algorithm: &str, message: &[u8]) -> Vec<u8> {
    let random = SystemRandom::new();
    let encoding: &dyn RsaEncoding = match algorithm {
        "ES256" | "ES384" => {
            let signature = ecdsa(algorithm).sign(&random, message);
            return signature.expect("a signature").as_ref().to_vec();
        }
        "EdDSA" => return ed25519().sign(message).as_ref().to_vec(),
        "RS256" => &RSA_PKCS1_SHA256,
        "RS384" => &RSA_PKCS1_SHA384,
        "RS512" => &RSA_PKCS1_SHA512,
        "PS256" => &RSA_PSS_SHA256,
        "PS384" => &RSA_PSS_SHA384,
        _ => &RSA_PSS_SHA512,
    };
    let pair = rsa();
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(encoding, &random, message, &mut signature)
        .expect("a signature");
    signature
}

/// A token with header and claims as given, signed with the key for `algorithm`, whatever the header says.
pub(crate) fn sign_text(algorithm: &str, header: &str, claims: &str) -> String {
    let message = format!("{}.{}", encode(header), encode(claims));
    let signature = signature(algorithm, message.as_bytes());
    format!("{message}.{}", encode(signature))
}

/// A token of claims, with the usual header.
pub(crate) fn sign(algorithm: &str, claims: &Value) -> String {
    let header = json!({"alg": algorithm, "typ": "at+jwt", "kid": key_id(algorithm)});
    sign_text(algorithm, &header.to_string(), &claims.to_string())
}

/// Claims that are accepted.
pub(crate) fn claims() -> Value {
    json!({"iss": URL, "sub": "2482897", "aud": RESOURCE, "exp": NOW + 300, "iat": NOW})
}

/// Claims that are accepted, with some replaced; `null` removes one.
pub(crate) fn claims_with(changes: &Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().expect("an object") {
        match value {
            Value::Null => drop(claims.as_object_mut().expect("an object").remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

pub(crate) fn issuer() -> Issuer {
    Issuer::new("corp", URL)
}

/// Verifies a token with the issuer's key set.
pub(crate) fn verify(text: &str) -> Result<Caller, Refusal> {
    issuer().verify(&Token::parse(text)?, &key_set(), RESOURCE, NOW)
}
