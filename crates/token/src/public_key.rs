//! One public key of a key set, read from its JWK (RFC 7517, RFC 7518 section 6, RFC 8037).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519};
use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};

use crate::algorithm::Algorithm;
use crate::json::Value;

/// RSA keys have 2048 to 8192 bits.
const RSA_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;
/// Members that only a private key has: one that was published is no key to trust.
const PRIVATE_MEMBERS: [&str; 2] = ["d", "k"];

/// The key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PublicKey {
    /// Modulus and exponent, without leading zeros.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// An uncompressed point.
    P256(Vec<u8>),
    /// An uncompressed point.
    P384(Vec<u8>),
    /// 32 bytes.
    Ed25519(Vec<u8>),
}

/// A key of a set, with what the set says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyEntry {
    pub(crate) key: PublicKey,
    /// The only algorithm it is for, if the set says one.
    algorithm: Option<Algorithm>,
}

impl KeyEntry {
    /// Reads a JWK; nothing if it is no public key for signatures that this crate checks.
    pub(crate) fn from_jwk(jwk: Value<'_>) -> Option<Self> {
        if PRIVATE_MEMBERS.iter().any(|name| jwk.get(name).is_some()) || !is_for_signatures(jwk) {
            return None;
        }
        let algorithm = match jwk.get("alg") {
            Some(name) => Some(Algorithm::from_name(&name.as_str()?)?),
            None => None,
        };
        let key = PublicKey::from_jwk(jwk)?;
        let fits = algorithm.is_none_or(|algorithm| key.fits(algorithm));
        fits.then_some(Self { key, algorithm })
    }

    /// Whether a signature with this algorithm may be checked with this key.
    pub(crate) fn accepts(&self, algorithm: Algorithm) -> bool {
        self.key.fits(algorithm) && self.algorithm.is_none_or(|only| only == algorithm)
    }
}

impl PublicKey {
    /// Whether keys of this type make signatures with this algorithm.
    fn fits(&self, algorithm: Algorithm) -> bool {
        match self {
            Self::Rsa { .. } => algorithm.rsa_parameters().is_some(),
            Self::P256(_) => algorithm == Algorithm::Es256,
            Self::P384(_) => algorithm == Algorithm::Es384,
            Self::Ed25519(_) => algorithm == Algorithm::EdDsa,
        }
    }

    /// Whether the signature is one of this key over the message. False if the algorithm is for keys of another type.
    pub(crate) fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let (verification, point): (&'static dyn VerificationAlgorithm, _) = match self {
            Self::Rsa { n, e } => {
                let key = RsaPublicKeyComponents { n, e };
                let parameters = algorithm.rsa_parameters();
                return parameters
                    .is_some_and(|parameters| key.verify(parameters, message, signature).is_ok());
            }
            Self::P256(point) => (&ECDSA_P256_SHA256_FIXED, point),
            Self::P384(point) => (&ECDSA_P384_SHA384_FIXED, point),
            Self::Ed25519(point) => (&ED25519, point),
        };
        let key = UnparsedPublicKey::new(verification, point);
        self.fits(algorithm) && key.verify(message, signature).is_ok()
    }

    fn from_jwk(jwk: Value<'_>) -> Option<Self> {
        match (&*text(jwk, "kty")?, text(jwk, "crv").as_deref()) {
            ("RSA", _) => {
                let (n, e) = (number(jwk, "n")?, number(jwk, "e")?);
                let fits = RSA_BYTES.contains(&n.len()) && !e.is_empty() && e.len() <= 8;
                fits.then_some(Self::Rsa { n, e })
            }
            ("EC", Some("P-256")) => point(jwk, 32).map(Self::P256),
            ("EC", Some("P-384")) => point(jwk, 48).map(Self::P384),
            ("OKP", Some("Ed25519")) => {
                let x = decode(jwk, "x")?;
                (x.len() == 32).then_some(Self::Ed25519(x))
            }
            _ => None,
        }
    }
}

/// `use` and `key_ops`, where they are given, allow to check signatures.
fn is_for_signatures(jwk: Value<'_>) -> bool {
    let by_use = jwk
        .get("use")
        .is_none_or(|it| it.as_str().as_deref() == Some("sig"));
    let by_operations = jwk.get("key_ops").is_none_or(|operations| {
        let names = operations.strings().unwrap_or_default();
        names.iter().any(|name| name == "verify")
    });
    by_use && by_operations
}

fn text(jwk: Value<'_>, name: &str) -> Option<String> {
    Some(jwk.get(name)?.as_str()?.into_owned())
}

fn decode(jwk: Value<'_>, name: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(&*jwk.get(name)?.as_str()?).ok()
}

/// A large number; some issuers write a leading zero, which `ring` refuses.
fn number(jwk: Value<'_>, name: &str) -> Option<Vec<u8>> {
    let bytes = decode(jwk, name)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    Some(bytes.get(zeros..)?.to_vec())
}

/// The coordinates have exactly the size of the curve's field (RFC 7518, 6.2.1.2).
fn point(jwk: Value<'_>, size: usize) -> Option<Vec<u8>> {
    let (x, y) = (decode(jwk, "x")?, decode(jwk, "y")?);
    (x.len() == size && y.len() == size).then(|| [&[4], &x[..], &y[..]].concat())
}
