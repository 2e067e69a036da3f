//! `Signer`: the Ed25519 key that signs checkpoints, and `TrustedKeys`: the public halves a verifier accepts.
//!
//! The key is generated at first start into a file only its owner can read, or given in the configuration. Every public key this
//! data directory has signed with is listed beside it, so that a new key does not make old checkpoints unverifiable.
//! Refuses a key file that others can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use countersign_inspect::{decode_hex, encode_hex};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use ring::hmac;
use thiserror::Error;

use crate::private::private_file;

pub(crate) const KEY_FILE: &str = "signing_key";
const PUBLIC_FILE: &str = "signing_keys.pub";

/// The signing key could not be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The key file could not be read or written.
    #[error("cannot use the signing key file {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Others may read the key file.
    #[error("the signing key file {path} is readable by others; run: chmod 600 {path}")]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// The text is not a key.
    #[error("the signing key is not 64 hexadecimal digits")]
    Malformed,
    /// The system gave no randomness.
    #[error("the system gave no randomness for a new signing key")]
    Randomness(#[source] getrandom::Error),
}

/// Signs checkpoints. Never shows its secret half.
pub struct Signer {
    key: SigningKey,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer")
            .field("public", &self.public())
            .finish_non_exhaustive()
    }
}

impl Signer {
    /// The key written as 64 hexadecimal digits.
    pub fn from_text(text: &str) -> Result<Self, KeyError> {
        let seed = decode_hex::<32>(text.trim()).ok_or(KeyError::Malformed)?;
        Ok(Self {
            key: SigningKey::from_bytes(&seed),
        })
    }

    /// The key of this data directory, generated if there is none yet. Call it under the store's lock.
    pub(crate) fn load_or_create(dir: &Path) -> Result<Self, KeyError> {
        Self::load(dir)?.map_or_else(|| Self::create(&dir.join(KEY_FILE)), Ok)
    }

    /// The key of this data directory, if there is one.
    pub(crate) fn load(dir: &Path) -> Result<Option<Self>, KeyError> {
        match read_private(&dir.join(KEY_FILE)) {
            Ok(text) => Self::from_text(&text).map(Some),
            Err(KeyError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn create(path: &Path) -> Result<Self, KeyError> {
        let mut seed = [0_u8; 32];
        getrandom::fill(&mut seed).map_err(KeyError::Randomness)?;
        write_private(path, &encode_hex(&seed)).map_err(|source| KeyError::File {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            key: SigningKey::from_bytes(&seed),
        })
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.key.verifying_key())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign(message).to_bytes()
    }

    /// A secret for another purpose, which tells nothing about the key.
    pub(crate) fn derive(&self, purpose: &[u8]) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.key.as_bytes());
        let mut secret = [0; 32];
        secret.copy_from_slice(hmac::sign(&key, purpose).as_ref());
        secret
    }
}

/// The public half of a signing key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// The key written as 64 hexadecimal digits.
    pub fn from_text(text: &str) -> Result<Self, KeyError> {
        let bytes = decode_hex::<32>(text.trim()).ok_or(KeyError::Malformed)?;
        VerifyingKey::from_bytes(&bytes)
            .map(Self)
            .map_err(|_| KeyError::Malformed)
    }

    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(bytes).ok().map(Self)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0
            .verify_strict(message, &Signature::from_bytes(signature))
            .is_ok()
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&encode_hex(self.0.as_bytes()))
    }
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The public keys a verifier accepts.
#[derive(Debug, Clone, Default)]
pub struct TrustedKeys {
    keys: Vec<PublicKey>,
}

impl TrustedKeys {
    /// Exactly these.
    pub fn new(keys: impl IntoIterator<Item = PublicKey>) -> Self {
        Self {
            keys: keys.into_iter().collect(),
        }
    }

    /// The keys this data directory has signed with. None, if it never did.
    pub fn of_data_dir(dir: &Path) -> Result<Self, KeyError> {
        let path = dir.join(PUBLIC_FILE);
        match fs::read_to_string(&path) {
            Ok(text) => text
                .lines()
                .filter(|l| !l.trim().is_empty())
                .map(PublicKey::from_text)
                .collect::<Result<_, _>>()
                .map(|keys| Self { keys }),
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(KeyError::File { path, source }),
        }
    }

    /// These, and one more.
    #[must_use]
    pub fn with(mut self, key: PublicKey) -> Self {
        self.keys.push(key);
        self
    }

    /// Adds the key to the directory's list. Call it under the store's lock.
    pub(crate) fn remember(dir: &Path, key: PublicKey) -> Result<(), KeyError> {
        if Self::of_data_dir(dir)?.find(&key.to_string()).is_some() {
            return Ok(());
        }
        let path = dir.join(PUBLIC_FILE);
        let append = || -> io::Result<()> {
            let mut file = private_file().open(&path)?;
            file.write_all(format!("{key}\n").as_bytes())?;
            file.sync_data()
        };
        append().map_err(|source| KeyError::File { path, source })
    }

    /// The keys.
    pub fn keys(&self) -> &[PublicKey] {
        &self.keys
    }

    pub(crate) fn find(&self, text: &str) -> Option<&PublicKey> {
        self.keys.iter().find(|key| key.to_string() == text)
    }
}

fn read_private(path: &Path) -> Result<String, KeyError> {
    let failed = |source| KeyError::File {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    if exposed(&file).map_err(failed)? {
        return Err(KeyError::Exposed {
            path: path.to_owned(),
        });
    }
    io::read_to_string(file).map_err(failed)
}

#[cfg(unix)]
fn exposed(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn exposed(_file: &File) -> io::Result<bool> {
    Ok(false)
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_kept_private() {
        let dir = tempfile::tempdir().expect("temp dir");
        let first = Signer::load_or_create(dir.path()).expect("created");
        let again = Signer::load_or_create(dir.path()).expect("loaded");
        assert_eq!(first.public(), again.public());
        let signature = first.sign(b"message");
        assert!(again.public().verifies(b"message", &signature));
        assert!(!again.public().verifies(b"massage", &signature));
        assert!(
            !format!("{first:?}").contains(
                fs::read_to_string(dir.path().join(KEY_FILE))
                    .expect("read")
                    .trim()
            )
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_key_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("temp dir");
        Signer::load_or_create(dir.path()).expect("created");
        let path = dir.path().join(KEY_FILE);
        assert_eq!(
            fs::metadata(&path).expect("metadata").permissions().mode() & 0o777,
            0o600
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("chmod");
        assert!(matches!(
            Signer::load_or_create(dir.path()),
            Err(KeyError::Exposed { .. })
        ));
    }

    #[test]
    fn every_key_used_stays_trusted() {
        let dir = tempfile::tempdir().expect("temp dir");
        let keys = [
            Signer::from_text(&"01".repeat(32)),
            Signer::from_text(&"02".repeat(32)),
        ]
        .map(|k| k.expect("key").public());
        for key in keys.iter().chain(&keys) {
            TrustedKeys::remember(dir.path(), *key).expect("remembered");
        }
        let trusted = TrustedKeys::of_data_dir(dir.path()).expect("read");
        assert_eq!(trusted.keys, keys);
        assert!(matches!(Signer::from_text("abc"), Err(KeyError::Malformed)));
    }
}
