//! The hash chain: the hash of a record is SHA-256 over the hash before it and the record's body.
//!
//! Refuses other algorithms: the file format names none, so there is exactly one.

pub use countersign_inspect::Digest;

/// What stands before the first record of a chain.
pub(crate) const NO_HASH: Digest = Digest::from_bytes([0; 32]);

/// The hash of a record: SHA-256(prev ‖ body).
pub(crate) fn chain_hash(prev: &Digest, body: &[u8]) -> Digest {
    Digest::sha256_of(&[prev.as_bytes(), body])
}

#[cfg(test)]
mod tests {
    use countersign_inspect::decode_hex;

    use super::*;

    #[test]
    fn known_answer_and_hexadecimal() {
        let digest = Digest::sha256(b"abc");
        assert_eq!(
            digest.to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(decode_hex(&digest.to_string()), Some(*digest.as_bytes()));
        assert_eq!(decode_hex::<32>("ba78"), None);
        assert_eq!(decode_hex::<1>("zz"), None);
        assert_eq!(
            chain_hash(&NO_HASH, b"x"),
            Digest::sha256(&[&[0; 32][..], b"x"].concat())
        );
    }
}
