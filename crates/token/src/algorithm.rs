//! The signature algorithms of tokens. All are asymmetric: no code here could check a token that was signed with a public
//! key as if it were a shared secret.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
};
use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};

use crate::public_key::PublicKey;

/// An algorithm of RFC 7518 or RFC 8037. `ES512` is not among them, because `ring` has no P-521.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

impl Algorithm {
    /// The algorithm of a name, which is case-sensitive. RFC 9864 calls `EdDSA` over Curve25519 `Ed25519`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }

    /// Whether keys of this type make such signatures.
    pub(crate) fn fits(self, key: &PublicKey) -> bool {
        match key {
            PublicKey::Rsa { .. } => self.rsa_parameters().is_some(),
            PublicKey::P256(_) => self == Self::Es256,
            PublicKey::P384(_) => self == Self::Es384,
            PublicKey::Ed25519(_) => self == Self::EdDsa,
        }
    }

    /// Whether the signature is one of the key over the message. False if the key is of another type.
    pub(crate) fn verify(self, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        let verified =
            match key {
                PublicKey::Rsa { n, e } => {
                    let Some(parameters) = self.rsa_parameters() else {
                        return false;
                    };
                    RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
                }
                _ if !self.fits(key) => return false,
                PublicKey::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature),
                PublicKey::P384(point) => UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point)
                    .verify(message, signature),
                PublicKey::Ed25519(point) => {
                    UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
                }
            };
        verified.is_ok()
    }

    fn rsa_parameters(self) -> Option<&'static RsaParameters> {
        Some(match self {
            Self::Rs256 => &RSA_PKCS1_2048_8192_SHA256,
            Self::Rs384 => &RSA_PKCS1_2048_8192_SHA384,
            Self::Rs512 => &RSA_PKCS1_2048_8192_SHA512,
            Self::Ps256 => &RSA_PSS_2048_8192_SHA256,
            Self::Ps384 => &RSA_PSS_2048_8192_SHA384,
            Self::Ps512 => &RSA_PSS_2048_8192_SHA512,
            Self::Es256 | Self::Es384 | Self::EdDsa => return None,
        })
    }
}
