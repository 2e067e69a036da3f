//! The key clients authenticate with, where the configuration gives none: made at first start, kept
//! in the data directory where only its owner can read it.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::config::{ApiKey, Config};
use crate::noise::token;

const FILE: &str = "api_key";

/// A key, and whether it is new.
#[derive(Debug)]
pub struct Key {
    /// The key itself.
    pub value: ApiKey,
    /// It was made just now, so it should be shown once.
    pub is_new: bool,
}

/// Why there is no key.
#[derive(Debug, Error)]
#[error("cannot use the API key file {}", path.display())]
pub struct KeyError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// The key in the data directory, if there is one.
pub fn stored(data_dir: &Path) -> Result<Option<ApiKey>, KeyError> {
    let path = data_dir.join(FILE);
    match read(&path) {
        Ok(text) => Ok(Some(ApiKey::new(text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(KeyError { path, source }),
    }
}

/// The key of a configuration: its own, or the one in its data directory.
pub(crate) fn of(config: &Config) -> Result<Key, KeyError> {
    match &config.api_key {
        Some(value) => Ok(Key {
            value: value.clone(),
            is_new: false,
        }),
        None => obtain(&config.data_dir),
    }
}

/// The key in the data directory; made if there is none.
fn obtain(data_dir: &Path) -> Result<Key, KeyError> {
    if let Some(value) = stored(data_dir)? {
        return Ok(Key {
            value,
            is_new: false,
        });
    }
    let path = data_dir.join(FILE);
    let value = make(data_dir, &path).map_err(|source| KeyError { path, source })?;
    Ok(Key {
        value,
        is_new: true,
    })
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

fn make(folder: &Path, path: &Path) -> io::Result<ApiKey> {
    let digits = token(24).ok_or_else(|| io::Error::other("no randomness to be had"))?;
    let key = format!("cs_{digits}");
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_only_its_owner_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("new/home");
        assert!(stored(&home).expect("no error").is_none());
        let first = obtain(&home).expect("made");
        let again = obtain(&home).expect("read");
        assert!(first.is_new && !again.is_new);
        assert_eq!(first.value.expose(), again.value.expose());
        assert_eq!(first.value.expose().len(), 51);
        let mode = fs::metadata(home.join(FILE))
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(home.join(FILE), "\n").expect("written");
        assert!(obtain(&home).is_err());
    }
}
