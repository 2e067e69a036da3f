//! The private key of a client, which proves with signed assertions who it is (`private_key_jwt`: RFC 7521, RFC 7523). The
//! key itself is never sent.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair,
};
use serde_json::json;

use crate::error::OAuthError;
use crate::secret::Secret;

/// For how long an assertion is valid. It is made for one request, which takes seconds.
const LIFETIME: Duration = Duration::from_mins(1);
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// A private key with what its assertions say about it.
pub struct ClientKey {
    pair: KeyPair,
    algorithm: SigningAlgorithm,
    key_id: Option<String>,
    fingerprint: Vec<u8>,
}

/// How assertions are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SigningAlgorithm {
    /// ECDSA over P-256.
    Es256,
    /// ECDSA over P-384.
    Es384,
    /// Ed25519.
    EdDsa,
    /// RSA with PKCS #1 padding.
    Rs256,
    /// RSA with PSS padding.
    Ps256,
}

enum KeyPair {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(Box<RsaKeyPair>),
}

impl SigningAlgorithm {
    const ALL: [Self; 5] = [
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
        Self::Rs256,
        Self::Ps256,
    ];

    /// Its name in the header of an assertion.
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
        }
    }

    /// The algorithm of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl ClientKey {
    /// Reads a key: PKCS #8 in PEM, where a line break may also be written as `\n`. Without an algorithm, the first one is
    /// taken that the key is for.
    pub fn from_pem(
        pem: &str,
        algorithm: Option<SigningAlgorithm>,
        key_id: Option<&str>,
    ) -> Result<Self, OAuthError> {
        let der = der(pem).ok_or(OAuthError::PrivateKey)?;
        let algorithms = SigningAlgorithm::ALL.into_iter();
        let mut algorithms = algorithms.filter(|it| algorithm.is_none_or(|only| only == *it));
        let found = algorithms.find_map(|it| Some((it, KeyPair::read(&der, it)?)));
        let (algorithm, pair) = found.ok_or(OAuthError::PrivateKey)?;
        Ok(Self {
            pair,
            algorithm,
            key_id: key_id.map(str::to_owned),
            fingerprint: digest(&SHA256, &der).as_ref().to_vec(),
        })
    }

    /// An assertion that the client `id` makes to the authorization server `audience`. It is valid for a minute, and is
    /// different each time.
    pub(crate) fn assertion(
        &self,
        id: &str,
        audience: &str,
        now: SystemTime,
    ) -> Result<Secret, OAuthError> {
        let mut header = json!({"alg": self.algorithm.name(), "typ": "JWT"});
        if let Some(key_id) = &self.key_id {
            header["kid"] = json!(key_id);
        }
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let claims = json!({
            "iss": id,
            "sub": id,
            "aud": audience,
            "jti": Secret::random()?.expose(),
            "iat": now.as_secs(),
            "exp": (now + LIFETIME).as_secs(),
        });
        let encode = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&header), encode(&claims));
        let signature = self.pair.sign(signed.as_bytes(), self.algorithm)?;
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Ok(Secret::new(format!("{signed}.{signature}")))
    }
}

impl KeyPair {
    fn read(der: &[u8], algorithm: SigningAlgorithm) -> Option<Self> {
        let ecdsa = |curve| {
            let pair = EcdsaKeyPair::from_pkcs8(curve, der, &SystemRandom::new());
            pair.ok().map(Self::Ecdsa)
        };
        match algorithm {
            SigningAlgorithm::Es256 => ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
            SigningAlgorithm::Es384 => ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
            SigningAlgorithm::EdDsa => {
                // OpenSSL writes such keys without their public half.
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der);
                pair.ok().map(Self::Ed25519)
            }
            SigningAlgorithm::Rs256 | SigningAlgorithm::Ps256 => {
                let pair = RsaKeyPair::from_pkcs8(der);
                pair.ok().map(|pair| Self::Rsa(Box::new(pair)))
            }
        }
    }

    fn sign(&self, data: &[u8], algorithm: SigningAlgorithm) -> Result<Vec<u8>, OAuthError> {
        let random = SystemRandom::new();
        let no_randomness = |_| OAuthError::NoRandomness;
        match self {
            Self::Ecdsa(pair) => {
                let signature = pair.sign(&random, data).map_err(no_randomness)?;
                Ok(signature.as_ref().to_vec())
            }
            Self::Ed25519(pair) => Ok(pair.sign(data).as_ref().to_vec()),
            Self::Rsa(pair) => {
                let padding: &dyn ring::signature::RsaEncoding = match algorithm {
                    SigningAlgorithm::Ps256 => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(padding, &random, data, &mut signature)
                    .map_err(no_randomness)?;
                Ok(signature)
            }
        }
    }
}

/// The bytes between the two lines of a PEM file. Blocks of other kinds may stand before them.
fn der(pem: &str) -> Option<Vec<u8>> {
    let (_, rest) = pem.split_once(BEGIN)?;
    let (body, _) = rest.split_once(END)?;
    let body: String = body.replace("\\n", "").split_whitespace().collect();
    STANDARD.decode(body).ok()
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientKey({})", self.algorithm.name())
    }
}

impl PartialEq for ClientKey {
    fn eq(&self, other: &Self) -> bool {
        let parts = |it: &Self| (it.fingerprint.clone(), it.algorithm, it.key_id.clone());
        parts(self) == parts(other)
    }
}

impl Eq for ClientKey {}

#[cfg(test)]
mod tests {
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, KeyPair as _,
        RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, UnparsedPublicKey,
        VerificationAlgorithm,
    };

    use super::*;

    const RSA: &str = include_str!("client_key/rsa.pem");

    fn pem(der: &[u8]) -> String {
        format!("{BEGIN}\n{}\n{END}\n", STANDARD.encode(der))
    }

    fn public(key: &ClientKey) -> Vec<u8> {
        match &key.pair {
            KeyPair::Ecdsa(pair) => pair.public_key().as_ref().to_vec(),
            KeyPair::Ed25519(pair) => pair.public_key().as_ref().to_vec(),
            KeyPair::Rsa(pair) => pair.public_key().as_ref().to_vec(),
        }
    }

    fn keys() -> Vec<(String, SigningAlgorithm)> {
        let random = SystemRandom::new();
        let ecdsa = |curve| {
            let der = EcdsaKeyPair::generate_pkcs8(curve, &random).expect("a key");
            pem(der.as_ref())
        };
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
        vec![
            (
                ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
                SigningAlgorithm::Es256,
            ),
            (
                ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
                SigningAlgorithm::Es384,
            ),
            (pem(ed25519.as_ref()), SigningAlgorithm::EdDsa),
            (RSA.to_owned(), SigningAlgorithm::Rs256),
        ]
    }

    fn verifier(algorithm: SigningAlgorithm) -> &'static dyn VerificationAlgorithm {
        match algorithm {
            SigningAlgorithm::Es256 => &ECDSA_P256_SHA256_FIXED,
            SigningAlgorithm::Es384 => &ECDSA_P384_SHA384_FIXED,
            SigningAlgorithm::EdDsa => &ED25519,
            SigningAlgorithm::Rs256 => &RSA_PKCS1_2048_8192_SHA256,
            SigningAlgorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
        }
    }

    fn part(assertion: &Secret, index: usize) -> serde_json::Value {
        let part = assertion.expose().split('.').nth(index).expect("a part");
        let bytes = URL_SAFE_NO_PAD.decode(part).expect("base64url");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    #[test]
    fn an_assertion_can_be_verified_with_the_public_key() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let ps256 = (RSA.to_owned(), SigningAlgorithm::Ps256);
        for (pem, algorithm) in keys().into_iter().chain([ps256]) {
            let key = ClientKey::from_pem(&pem, Some(algorithm), Some("k1")).expect("a key");
            let made = key
                .assertion("us", "https://id.example", now)
                .expect("an assertion");
            let (signed, signature) = made.expose().rsplit_once('.').expect("a signature");
            let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64url");
            UnparsedPublicKey::new(verifier(algorithm), public(&key))
                .verify(signed.as_bytes(), &signature)
                .expect("a valid signature");
            let header = part(&made, 0);
            assert_eq!(
                header,
                json!({"alg": algorithm.name(), "typ": "JWT", "kid": "k1"})
            );
            let claims = part(&made, 1);
            assert_eq!(
                (&claims["iss"], &claims["sub"]),
                (&json!("us"), &json!("us"))
            );
            assert_eq!(claims["aud"], "https://id.example");
            assert_eq!(
                (&claims["iat"], &claims["exp"]),
                (&json!(1_000_000), &json!(1_000_060))
            );
            let again = key.assertion("us", "https://id.example", now);
            let again = part(&again.expect("an assertion"), 1);
            assert_ne!(claims["jti"], again["jti"], "each is used once");
        }
    }

    #[test]
    fn the_algorithm_follows_from_the_key() {
        for (pem, algorithm) in keys() {
            let key = ClientKey::from_pem(&pem, None, None).expect("a key");
            assert_eq!(key.algorithm, algorithm);
            let in_one_line = pem.replace('\n', "\\n");
            let same = ClientKey::from_pem(&in_one_line, None, None).expect("a key");
            assert_eq!(key, same);
            assert!(!format!("{key:?}").contains("PRIVATE"));
            let other = match algorithm {
                SigningAlgorithm::EdDsa => SigningAlgorithm::Es256,
                _ => SigningAlgorithm::EdDsa,
            };
            ClientKey::from_pem(&pem, Some(other), None).expect_err("a key of another type");
        }
        for text in [
            "",
            "x",
            BEGIN,
            END,
            &format!("{BEGIN}AAAA{END}"),
            &format!("{END}{BEGIN}"),
        ] {
            let refused = ClientKey::from_pem(text, None, None);
            assert!(matches!(refused, Err(OAuthError::PrivateKey)), "{text}");
        }
        for algorithm in SigningAlgorithm::ALL {
            assert_eq!(
                SigningAlgorithm::from_name(algorithm.name()),
                Some(algorithm)
            );
        }
        assert_eq!(SigningAlgorithm::from_name("HS256"), None);
    }
}
