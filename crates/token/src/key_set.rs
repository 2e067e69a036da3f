//! The public keys of an issuer: a JWK set (RFC 7517). Keys of unknown types, for encryption or with private parts are left
//! out. What is left is found by `kid`, which is compared and used for nothing else.

use std::collections::HashMap;

use thiserror::Error;

use crate::algorithm::Algorithm;
use crate::json::{Object, Value};
use crate::public_key::{KeyEntry, PublicKey};
use crate::refusal::Refusal;

/// The keys of one issuer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    by_id: HashMap<String, Vec<KeyEntry>>,
    without_id: Vec<KeyEntry>,
}

/// Why bytes are not a key set.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum KeySetError {
    /// It has more bytes than a key set may have.
    #[error("the key set is larger than 256 KiB")]
    TooLarge,
    /// It is not a JSON object with an array `keys` of objects, or has duplicate members.
    #[error("the key set cannot be read")]
    Malformed,
    /// It has more keys than a key set may have.
    #[error("the key set has more than 100 keys")]
    TooManyKeys,
    /// It has no key that could check a token.
    #[error("the key set has no usable key")]
    Empty,
}

impl KeySet {
    /// The most bytes of a key set.
    pub const MAX_BYTES: usize = 256 * 1024;
    /// The most keys of a key set, usable or not.
    pub const MAX_KEYS: usize = 100;

    /// Reads a JWK set.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeySetError> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(KeySetError::TooLarge);
        }
        let document = Object::parse(bytes, Self::MAX_BYTES).map_err(|_| KeySetError::Malformed)?;
        let keys = document.get("keys").and_then(Value::elements);
        let mut set = Self::default();
        for (index, jwk) in keys.ok_or(KeySetError::Malformed)?.enumerate() {
            if index >= Self::MAX_KEYS {
                return Err(KeySetError::TooManyKeys);
            }
            let Some(entry) = KeyEntry::from_jwk(jwk) else {
                continue;
            };
            match jwk.get("kid").map(Value::as_str) {
                None => set.without_id.push(entry),
                Some(Some(id)) => set.by_id.entry(id.into_owned()).or_default().push(entry),
                Some(None) => {}
            }
        }
        if set.is_empty() {
            return Err(KeySetError::Empty);
        }
        Ok(set)
    }

    /// How many usable keys it has.
    pub fn len(&self) -> usize {
        self.without_id.len() + self.by_id.values().map(Vec::len).sum::<usize>()
    }

    /// Whether it has no usable key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one key for a signature. A token without `kid` needs a set in which only one key fits its algorithm.
    pub(crate) fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<&PublicKey, Refusal> {
        let candidates: Vec<&KeyEntry> = match id {
            Some(id) => self.by_id.get(id).into_iter().flatten().collect(),
            None => self
                .by_id
                .values()
                .flatten()
                .chain(&self.without_id)
                .collect(),
        };
        if candidates.is_empty() {
            return Err(Refusal::UnknownKey);
        }
        let mut fitting = candidates.iter().filter(|entry| entry.accepts(algorithm));
        match (fitting.next(), fitting.next()) {
            (Some(entry), None) => Ok(&entry.key),
            (None, _) => Err(Refusal::KeyType),
            (Some(_), Some(_)) => Err(Refusal::UnknownKey),
        }
    }
}
