//! The keys of a gateway: the clients' key, which opens MCP and everything that only reads, the admin key, which changes
//! need, and the key that the ids of sessions are made with, which no client has. Where the configuration gives none, a key
//! is made at first start and kept in the data directory, where only its owner can read it.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use countersign_config::{ApiKey, Config};
use thiserror::Error;

use crate::random::token;
use crate::services::{SealKey, SessionKey};
use crate::state::Guard;

const API_KEY: KeyFile = KeyFile {
    name: "api_key",
    prefix: "cs_",
};
const ADMIN_KEY: KeyFile = KeyFile {
    name: "admin_key",
    prefix: "csa_",
};
const SESSION_KEY: KeyFile = KeyFile {
    name: "session_key",
    prefix: "",
};

const SEAL_KEY: KeyFile = KeyFile {
    name: "seal.key",
    prefix: "",
};

/// Where a generated key is kept, and how its text begins.
#[derive(Clone, Copy, Debug)]
struct KeyFile {
    name: &'static str,
    prefix: &'static str,
}

/// A key, and whether it is new.
#[derive(Debug)]
pub struct Key {
    /// The key itself.
    pub value: ApiKey,
    /// It was made just now, so it should be shown once.
    pub is_new: bool,
}

/// Both keys of a gateway. They are never the same.
#[derive(Debug)]
pub(super) struct Keys {
    /// Opens MCP and everything that only reads.
    pub(super) api: Key,
    /// Opens everything.
    pub(super) admin: Key,
}

/// Why there is no key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// A key file could not be read or written.
    #[error("cannot use the key file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The system gives no randomness to make a key of.
    #[error("no randomness to be had")]
    Randomness,
    /// One key would open everything to every client.
    #[error("admin_key and api_key are the same key, so every client could change the gateway")]
    Same,
}

/// The clients' key in the data directory, if there is one.
pub fn stored_api_key(data_dir: &Path) -> Result<Option<ApiKey>, KeyError> {
    API_KEY.stored(data_dir)
}

/// The admin key in the data directory, if there is one.
pub fn stored_admin_key(data_dir: &Path) -> Result<Option<ApiKey>, KeyError> {
    ADMIN_KEY.stored(data_dir)
}

/// The key that ids of sessions are made with: that of the configuration, or the one in its data directory.
pub(super) fn session_key(config: &Config) -> Result<SessionKey, KeyError> {
    let key = SESSION_KEY.given_or_obtained(config.session_key.as_ref(), &config.data_dir)?;
    SessionKey::new(key.value.expose()).ok_or_else(|| KeyError::File {
        path: config.data_dir.join(SESSION_KEY.name),
        source: io::ErrorKind::InvalidData.into(),
    })
}

/// The key that tokens for servers are sealed with: that of the configuration, or the one in its data directory.
pub(super) fn seal_key(config: &Config) -> Result<SealKey, KeyError> {
    let key = SEAL_KEY.given_or_obtained(config.seal_key.as_ref(), &config.data_dir)?;
    SealKey::new(key.value.expose()).ok_or(KeyError::Randomness)
}

/// A key for a gateway without a listener: its one session has an id that no client is told.
pub(super) fn passing_session_key() -> Result<SessionKey, KeyError> {
    let key = token(24).and_then(|digits| SessionKey::new(&digits));
    key.ok_or(KeyError::Randomness)
}

impl Keys {
    /// The keys of a configuration: its own, or those in its data directory, made if there are none.
    pub(super) fn from_config(config: &Config) -> Result<Self, KeyError> {
        let keys = Self {
            api: API_KEY.given_or_obtained(config.api_key.as_ref(), &config.data_dir)?,
            admin: ADMIN_KEY.given_or_obtained(config.admin_key.as_ref(), &config.data_dir)?,
        };
        // Both are the operator's, so comparing them tells a client nothing.
        if keys.api.value.expose() == keys.admin.value.expose() {
            return Err(KeyError::Same);
        }
        Ok(keys)
    }

    /// Lets in what has one of these keys. `before`: the guard in force.
    pub(super) fn guard(&self, config: &Config, before: Option<&Guard>) -> Guard {
        let keys = (self.api.value.expose(), self.admin.value.expose());
        Guard::new(config, keys, before)
    }
}

impl KeyFile {
    fn stored(self, data_dir: &Path) -> Result<Option<ApiKey>, KeyError> {
        let path = data_dir.join(self.name);
        match read(&path) {
            Ok(text) => Ok(Some(ApiKey::new(text))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(KeyError::File { path, source }),
        }
    }

    /// The key that is given, or else the one in the data directory.
    fn given_or_obtained(self, given: Option<&ApiKey>, data_dir: &Path) -> Result<Key, KeyError> {
        match given {
            Some(value) => Ok(Key {
                value: value.clone(),
                is_new: false,
            }),
            None => self.obtain(data_dir),
        }
    }

    /// The key in the data directory; made if there is none.
    fn obtain(self, data_dir: &Path) -> Result<Key, KeyError> {
        if let Some(value) = self.stored(data_dir)? {
            return Ok(Key {
                value,
                is_new: false,
            });
        }
        let path = data_dir.join(self.name);
        let value = self
            .make(data_dir, &path)
            .map_err(|source| KeyError::File { path, source })?;
        Ok(Key {
            value,
            is_new: true,
        })
    }

    fn make(self, folder: &Path, path: &Path) -> io::Result<ApiKey> {
        let digits = token(24).ok_or_else(|| io::Error::other("no randomness to be had"))?;
        let key = format!("{}{digits}", self.prefix);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(format!("{key}\n").as_bytes())?;
        Ok(ApiKey::new(key))
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(4096).read_to_string(&mut text)?;
    match text.trim() {
        "" => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the file is empty",
        )),
        key => Ok(key.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use countersign_config::Environment;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_only_its_owner_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("new/home");
        for (file, length) in [(API_KEY, 51), (ADMIN_KEY, 52), (SESSION_KEY, 48)] {
            assert!(file.stored(&home).expect("no error").is_none());
            let first = file.obtain(&home).expect("made");
            let again = file.obtain(&home).expect("read");
            assert!(first.is_new && !again.is_new);
            assert_eq!(first.value.expose(), again.value.expose());
            assert_eq!(first.value.expose().len(), length);
            let mode = fs::metadata(home.join(file.name))
                .expect("a file")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
            fs::write(home.join(file.name), "\n").expect("written");
            assert!(file.obtain(&home).is_err());
        }
    }

    #[test]
    fn one_key_for_both_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = Config::embedded(&Environment::empty());
        folder.path().clone_into(&mut config.data_dir);
        let admin = Keys::from_config(&config).expect("two keys").admin;
        config.api_key = Some(admin.value);
        assert!(matches!(Keys::from_config(&config), Err(KeyError::Same)));
    }
}
