//! Seals what the store keeps of a token, so that a backup or a shared database does not give it away, and a row cannot be
//! put in the place of another one.

use countersign_inspect::{Digest, encode_hex};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

/// The first byte of sealed data.
const VERSION: u8 = 1;

/// How many bytes of a code stand in a link.
const LINK_BYTES: usize = 16;

/// The key that tokens are sealed with.
pub struct SealKey {
    key: LessSafeKey,
    /// Makes the codes of links.
    links: hmac::Key,
}

/// What sealed data belongs to. Opened under any other name, it is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct SealedFor<'a> {
    pub(super) server: &'a str,
    pub(super) url: &'a str,
    pub(super) caller: &'a str,
    pub(super) issuer: &'a str,
}

impl SealKey {
    /// From the text of a key, which has enough randomness of its own.
    pub fn new(text: &str) -> Option<Self> {
        let digest = Digest::sha256_of(&[b"countersign seal_key ", text.as_bytes()]);
        let key = UnboundKey::new(&AES_256_GCM, digest.as_bytes()).ok()?;
        let links = Digest::sha256_of(&[b"countersign connect link ", text.as_bytes()]);
        Some(Self {
            key: LessSafeKey::new(key),
            links: hmac::Key::new(hmac::HMAC_SHA256, links.as_bytes()),
        })
    }

    /// A code that tells for whom a link to connect a server was made, without naming the caller.
    pub(super) fn link(&self, server: &str, caller: &str) -> String {
        let text = [server, caller].join("\0");
        let tag = hmac::sign(&self.links, text.as_bytes());
        let short = tag.as_ref().iter().take(LINK_BYTES);
        encode_hex(&short.copied().collect::<Vec<u8>>())
    }

    /// Seals data; nothing if the system gives no randomness.
    pub(super) fn seal(&self, owner: SealedFor<'_>, data: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let mut body = data.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        let sealed = self
            .key
            .seal_in_place_append_tag(unique, owner.aad(), &mut body);
        sealed.ok()?;
        Some([&[VERSION], &nonce[..], &body].concat())
    }

    /// Opens sealed data; nothing if it was sealed by another key or for another owner, or has been changed.
    pub(super) fn open(&self, owner: SealedFor<'_>, sealed: &[u8]) -> Option<Vec<u8>> {
        let (version, rest) = sealed.split_first()?;
        let (nonce, body) = rest.split_first_chunk()?;
        let mut body = body.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let data = self.key.open_in_place(nonce, owner.aad(), &mut body).ok()?;
        (*version == VERSION).then(|| data.to_vec())
    }
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey")
    }
}

impl SealedFor<'_> {
    /// No part can hold a NUL, so the parts cannot run into each other.
    fn aad(self) -> Aad<Vec<u8>> {
        let parts = [self.server, self.url, self.caller, self.issuer];
        Aad::from(parts.join("\0").into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_data_opens_with_its_key_for_its_owner_only() {
        let owner = SealedFor {
            server: "crm",
            url: "https://crm.example/mcp",
            caller: "",
            issuer: "https://id.example",
        };
        let key = SealKey::new("a key of sufficient length, as it were").expect("a key");
        let sealed = key.seal(owner, b"token").expect("sealed");
        assert_eq!(key.open(owner, &sealed).as_deref(), Some(&b"token"[..]));
        assert_ne!(key.seal(owner, b"token").expect("sealed"), sealed);
        for other in [
            SealedFor {
                server: "x",
                ..owner
            },
            SealedFor {
                url: "https://evil.example/mcp",
                ..owner
            },
            SealedFor {
                caller: "key:ci",
                ..owner
            },
            SealedFor {
                issuer: "https://id.example/",
                ..owner
            },
        ] {
            assert_eq!(key.open(other, &sealed), None, "{other:?}");
        }
        let another = SealKey::new("another key of sufficient length").expect("a key");
        assert_eq!(another.open(owner, &sealed), None);
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert_eq!(key.open(owner, &changed), None, "byte {index}");
            assert_eq!(key.open(owner, &sealed[..index]), None, "{index} bytes");
        }
    }
}
