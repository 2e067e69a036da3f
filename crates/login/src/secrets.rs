//! Random secrets, and the digests by which they are known again.

use countersign_inspect::{Digest, encode_hex};

/// `length` random bytes as hexadecimal digits; `None` if the system gives no randomness.
pub fn random_token(length: usize) -> Option<String> {
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes).ok()?;
    Some(encode_hex(&bytes))
}

/// The SHA-256 of an id or a key. How long a search takes may tell of digests, never of what they are made from.
pub fn secret_digest(secret: &[u8]) -> [u8; 32] {
    *Digest::sha256(secret).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_as_long_as_asked_and_differ() {
        let (one, other) = (
            random_token(16).expect("noise"),
            random_token(16).expect("noise"),
        );
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
        assert_ne!(
            secret_digest(one.as_bytes()),
            secret_digest(other.as_bytes())
        );
    }
}
