//! `Note`: text signed by one or more keys, as <https://c2sp.org/signed-note> defines it, with Ed25519 signatures and the
//! timestamped Ed25519 cosignatures of <https://c2sp.org/tlog-cosignature>.
//!
//! Parsing trusts nothing: its length and the number of signatures are bounded, and a signature of a key that the caller
//! does not name is ignored, as the format demands.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

use crate::chain::{PublicKey, Signer};
use crate::digest::Digest;

/// A note longer than this is refused. A log head with 64 signatures, post-quantum ones included, is shorter.
const MAX_NOTE: usize = 1 << 19;
const MAX_SIGNATURES: usize = 64;
const DASH: &str = "\u{2014} ";
/// What signs the text itself.
const ED25519: u8 = 0x01;
/// What signs the text and a time: a witness.
const COSIGNATURE: u8 = 0x04;

/// Text that is not a signed note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a signed note: {0}")]
pub struct NoteError(&'static str);

/// A text and its signature lines. Parsing one does not mean that a signature holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What is signed. Ends with a newline.
    pub text: String,
    /// The signatures, in their order.
    pub signatures: Vec<SignatureLine>,
}

/// One signature of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureLine {
    /// The name of the key.
    pub name: String,
    /// The four bytes that tell keys of one name apart.
    pub key_id: [u8; 4],
    /// The signature itself.
    pub signature: Vec<u8>,
}

impl SignatureLine {
    /// Signs `text` as the key called `name`.
    pub(crate) fn sign(signer: &Signer, name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            key_id: key_id(name, ED25519, &signer.public()),
            signature: signer.sign(text.as_bytes()).to_vec(),
        }
    }

    /// Reads a line without its newline.
    pub fn parse(line: &str) -> Result<Self, NoteError> {
        let rest = line.strip_prefix(DASH);
        let rest = rest.ok_or(NoteError("a signature line does not begin with a dash"))?;
        let (name, encoded) = rest
            .split_once(' ')
            .ok_or(NoteError("a signature line lacks a part"))?;
        if !is_key_name(name) {
            return Err(NoteError("the name of a key is not allowed"));
        }
        let bytes = STANDARD.decode(encoded);
        let bytes = bytes.map_err(|_| NoteError("a signature is not base64"))?;
        match bytes.split_first_chunk::<4>() {
            Some((key_id, signature)) if !signature.is_empty() => Ok(Self {
                name: name.to_owned(),
                key_id: *key_id,
                signature: signature.to_vec(),
            }),
            _ => Err(NoteError("a signature is too short")),
        }
    }
}

impl std::fmt::Display for SignatureLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = [&self.key_id[..], &self.signature].concat();
        write!(f, "{DASH}{} {}", self.name, STANDARD.encode(bytes))
    }
}

impl Note {
    /// Reads a whole note, which ends with its last signature line.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        if text.len() > MAX_NOTE {
            return Err(NoteError("too long"));
        }
        if text.chars().any(|c| c < ' ' && c != '\n') {
            return Err(NoteError("it has control characters"));
        }
        let end = text.rfind("\n\n");
        let end = end.ok_or(NoteError("no empty line before the signatures"))?;
        let (text, lines) = (&text[..=end], &text[end + 2..]);
        let lines = lines.strip_suffix('\n');
        let lines = lines.ok_or(NoteError("the last line is not complete"))?;
        let signatures: Vec<SignatureLine> = lines
            .split('\n')
            .take(MAX_SIGNATURES + 1)
            .map(SignatureLine::parse)
            .collect::<Result<_, _>>()?;
        if signatures.len() > MAX_SIGNATURES {
            return Err(NoteError("too many signatures"));
        }
        Ok(Self {
            text: text.to_owned(),
            signatures,
        })
    }

    /// Whether `key`, under `name`, signed the text. An error if a signature by that name and key does not hold.
    pub fn is_signed_by(&self, name: &str, key: &PublicKey) -> Result<bool, NoteError> {
        self.holds(name, key, ED25519, |signature| {
            let signature = signature.try_into().ok()?;
            key.verifies(self.text.as_bytes(), signature).then_some(())
        })
        .map(|held| held.is_some())
    }

    /// When the witness `key`, under `name`, cosigned the text, in seconds since 1970. `None` if it did not.
    pub fn cosigned_at(&self, name: &str, key: &PublicKey) -> Result<Option<u64>, NoteError> {
        self.holds(name, key, COSIGNATURE, |signature| {
            let (time, signature) = signature.split_first_chunk::<8>()?;
            let time = u64::from_be_bytes(*time);
            let message = format!("cosignature/v1\ntime {time}\n{}", self.text);
            let signature = signature.try_into().ok()?;
            (time <= i64::MAX.unsigned_abs() && key.verifies(message.as_bytes(), signature))
                .then_some(time)
        })
    }

    /// What `check` makes of the signatures of one key. A signature of that key that does not hold spoils the note.
    fn holds<T>(
        &self,
        name: &str,
        key: &PublicKey,
        kind: u8,
        check: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, NoteError> {
        let id = key_id(name, kind, key);
        let mut held = None;
        let ours = |line: &&SignatureLine| line.name == name && line.key_id == id;
        for line in self.signatures.iter().filter(ours) {
            let checked = check(&line.signature);
            held = Some(checked.ok_or(NoteError("a signature of a known key does not hold"))?);
        }
        Ok(held)
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures
            .iter()
            .try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Text that is not a verifier key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a verifier key: NAME+HASH+BASE64 of an Ed25519 key")]
pub struct VerifierKeyError;

/// A public key with its name, written `NAME+HASH+BASE64`: what a reader of notes is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    /// The name that signature lines have.
    pub name: String,
    /// The key.
    pub key: PublicKey,
    is_witness: bool,
}

impl VerifierKey {
    /// The key of a log.
    pub fn new(name: &str, key: PublicKey) -> Self {
        Self {
            name: name.to_owned(),
            key,
            is_witness: false,
        }
    }

    /// Whether it makes cosignatures, not signatures.
    pub fn is_witness(&self) -> bool {
        self.is_witness
    }

    /// Whether this key signed or cosigned the note.
    pub fn has_signed(&self, note: &Note) -> Result<bool, NoteError> {
        if self.is_witness {
            let time = note.cosigned_at(&self.name, &self.key)?;
            Ok(time.is_some())
        } else {
            note.is_signed_by(&self.name, &self.key)
        }
    }

    fn kind(&self) -> u8 {
        if self.is_witness {
            COSIGNATURE
        } else {
            ED25519
        }
    }
}

impl std::str::FromStr for VerifierKey {
    type Err = VerifierKeyError;

    fn from_str(text: &str) -> Result<Self, VerifierKeyError> {
        let mut parts = text.trim().splitn(3, '+');
        let (Some(name), Some(hash), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(VerifierKeyError);
        };
        let bytes = STANDARD.decode(key).map_err(|_| VerifierKeyError)?;
        let (kind, key) = bytes.split_first().ok_or(VerifierKeyError)?;
        let key = <[u8; 32]>::try_from(key).ok();
        let key = key.and_then(|key| PublicKey::from_bytes(&key));
        let key = Self {
            name: name.to_owned(),
            key: key.ok_or(VerifierKeyError)?,
            is_witness: *kind == COSIGNATURE,
        };
        let is_known = key.kind() == *kind && is_key_name(name);
        let id = u32::from_be_bytes(key_id(name, *kind, &key.key));
        if is_known && format!("{id:08x}") == hash {
            Ok(key)
        } else {
            Err(VerifierKeyError)
        }
    }
}

impl std::fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = self.kind();
        let id = u32::from_be_bytes(key_id(&self.name, kind, &self.key));
        let key = [&[kind][..], self.key.as_bytes()].concat();
        write!(f, "{}+{id:08x}+{}", self.name, STANDARD.encode(key))
    }
}

fn key_id(name: &str, kind: u8, key: &PublicKey) -> [u8; 4] {
    let hash = Digest::sha256_of(&[name.as_bytes(), &[b'\n', kind], key.as_bytes()]);
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// Whether a key may have this name.
pub(crate) fn is_key_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+')
}

#[cfg(test)]
mod tests;
