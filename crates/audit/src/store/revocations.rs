//! Revoked keys and certificates of callers. A row names the key by its SHA-256, so that a new key of the same caller is not meant
//! by it; a certificate by a SHA-256 over the names of the caller and of the certificate. Every gateway that shares the store
//! asks about the callers in its own configuration.

/// The SHA-256 of a key, or the one that stands for a certificate.
pub type KeyDigest = [u8; 32];

/// A key or certificate that is not accepted any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revocation<'a> {
    /// Whose it was, as records name the caller.
    pub caller: &'a str,
    /// The key or certificate.
    pub key: KeyDigest,
}
