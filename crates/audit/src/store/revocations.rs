//! Revoked keys of callers. A row names the key by its SHA-256, so that a new key of the same caller is not meant by it. Every
//! gateway that shares the store asks about the keys in its own configuration.

/// The SHA-256 of a key.
pub type KeyDigest = [u8; 32];

/// A key that is not accepted any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revocation<'a> {
    /// Whose key it was, as records name the caller.
    pub caller: &'a str,
    /// The key.
    pub key: KeyDigest,
}
