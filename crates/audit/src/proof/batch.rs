//! `Batch`: a chain's signed statement about the records since its last one: their numbers, the Merkle root of their hashes
//! and the head they end at. Its exact text is a leaf of the store's tree.

use countersign_inspect::{decode_hex, encode_hex};
use serde::{Deserialize, Serialize};

use super::merkle::{self, Frontier};
use crate::chain::{PublicKey, Signer, TrustedKeys};
use crate::digest::Digest;
use crate::record::Head;
use crate::time::Timestamp;

/// Longer texts were not written by a gateway.
const MAX_TEXT: usize = 4096;

/// Records `first` to `head.n` of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch {
    pub(crate) chain_id: crate::id::Ulid,
    /// The number of the first record.
    pub(crate) first: u64,
    /// The number of the last record …
    pub(crate) n: u64,
    /// … and its hash.
    pub(crate) hash: Digest,
    /// The RFC 6962 root over the hashes of the records, each of them a leaf.
    pub(crate) root: Digest,
    pub(crate) at: Timestamp,
    /// The public key, in hexadecimal.
    pub(crate) key: String,
    /// The signature, in hexadecimal.
    pub(crate) signature: String,
}

impl Batch {
    /// Signs for the records in `records`, the last of which is `head`. `None` if there are none.
    pub(crate) fn sign(signer: &Signer, head: Head, records: &Frontier) -> Option<Self> {
        let mut batch = Self {
            chain_id: head.chain_id,
            first: (head.n + 1).checked_sub(records.size())?,
            n: head.n,
            hash: head.hash,
            root: records.root(),
            at: Timestamp::now(),
            key: signer.public().to_string(),
            signature: String::new(),
        };
        batch.signature = encode_hex(&signer.sign(&batch.message()));
        (records.size() > 0).then_some(batch)
    }

    /// The text that is stored and hashed.
    pub(crate) fn to_text(&self) -> String {
        // It has strings and numbers only, which can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a text. Refuses every text that it would not have written.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= MAX_TEXT)?;
        let batch: Self = serde_json::from_str(text).ok()?;
        (batch.first <= batch.n && batch.to_text() == text).then_some(batch)
    }

    pub(crate) fn head(&self) -> Head {
        Head {
            chain_id: self.chain_id,
            n: self.n,
            hash: self.hash,
        }
    }

    /// How many records it signs for.
    pub(crate) fn size(&self) -> u64 {
        self.n - self.first + 1
    }

    /// Does its signature belong to the key it names?
    pub(crate) fn is_signed(&self) -> bool {
        let key = PublicKey::from_text(&self.key).ok();
        let signature = decode_hex::<64>(&self.signature);
        // Capital letters would be another text for the same signature.
        let signature = signature.filter(|bytes| encode_hex(bytes) == self.signature);
        match (key, signature) {
            (Some(key), Some(signature)) => key.verifies(&self.message(), &signature),
            _ => false,
        }
    }

    /// Signed by a trusted key, and unchanged since?
    pub(crate) fn is_genuine(&self, trusted: &TrustedKeys) -> bool {
        trusted.find(&self.key).is_some() && self.is_signed()
    }

    /// Is the record with this hash and number one of those it signs for?
    pub(crate) fn includes(&self, n: u64, hash: &Digest, path: &[Digest]) -> bool {
        let index = n.checked_sub(self.first);
        let leaf = merkle::leaf_hash(hash.as_bytes());
        let root = index.and_then(|index| merkle::root_from_path(leaf, index, self.size(), path));
        root == Some(self.root)
    }

    /// The bytes that are signed. The first line keeps a signature from meaning anything elsewhere.
    fn message(&self) -> Vec<u8> {
        let Self {
            chain_id,
            first,
            n,
            hash,
            root,
            at,
            ..
        } = self;
        format!("countersign audit batch 1\n{chain_id}\n{first}\n{n}\n{hash}\n{root}\n{at}\n")
            .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Ids;

    #[test]
    fn every_byte_of_the_text_is_signed_or_part_of_the_form() {
        let signer = Signer::from_text(&"ab".repeat(32)).expect("key");
        let mut records = Frontier::default();
        let hash = Digest::sha256(b"record");
        for _ in 0..3 {
            records.push(merkle::leaf_hash(hash.as_bytes()));
        }
        let head = Head {
            chain_id: Ids::new().next().id,
            n: 41,
            hash,
        };
        assert_eq!(Batch::sign(&signer, head, &Frontier::default()), None);
        let batch = Batch::sign(&signer, head, &records).expect("a batch");
        assert_eq!((batch.first, batch.n, batch.size()), (39, 41, 3));
        let trusted = TrustedKeys::new([signer.public()]);
        let text = batch.to_text();
        let read = Batch::from_text(&text).expect("it reads back");
        assert!(read == batch && read.is_genuine(&trusted));
        assert!(!read.is_genuine(&TrustedKeys::default()));
        for at in 0..text.len() {
            for bit in [1, 0x20] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= bit;
                let holds = String::from_utf8(bytes)
                    .ok()
                    .and_then(|text| Batch::from_text(&text))
                    .is_some_and(|batch| batch.is_genuine(&trusted));
                assert!(!holds, "byte {at} of {text}");
            }
        }
    }
}
