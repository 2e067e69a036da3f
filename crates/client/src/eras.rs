//! Which era each server spoke the last time, kept over restarts, so that no server is asked in
//! vain what it did not understand yesterday. A file of hints: where it is missing, old or wrong,
//! the server is simply asked again.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_dial::lock;
use countersign_inspect::Era;
use serde::{Deserialize, Serialize};

const FILE: &str = "eras.json";
/// Servers learn: after this long they are asked again.
const VALID: Duration = Duration::from_hours(24 * 7);

/// What is known about every server.
#[derive(Clone, Debug)]
pub struct KnownEras {
    file: Arc<PathBuf>,
    all: Arc<Mutex<BTreeMap<String, Entry>>>,
}

/// What is known about one server.
#[derive(Clone, Debug)]
pub struct ServerEra {
    known: KnownEras,
    key: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    era: Era,
    /// When it was found out, in seconds since 1970.
    since: u64,
}

impl KnownEras {
    /// Reads what a data directory remembers. Blocks, shortly.
    pub fn read(data_dir: &Path) -> Self {
        let file = data_dir.join(FILE);
        let all = fs::read(&file).ok();
        let all = all.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self {
            file: Arc::new(file),
            all: Arc::new(Mutex::new(all.unwrap_or_default())),
        }
    }

    /// Knows no server yet, and writes no file.
    pub fn without_file() -> Self {
        Self {
            file: Arc::default(),
            all: Arc::default(),
        }
    }

    /// What is known about the server of this name at this address or command.
    pub fn for_server(&self, server: &str, place: &str) -> ServerEra {
        // A digest: an address may hold a secret in its query.
        let digest = countersign_inspect::Digest::sha256(place.as_bytes()).to_string();
        ServerEra {
            known: self.clone(),
            key: format!("{server} {digest}"),
        }
    }

    /// Writes everything down. Blocks, shortly. It is a hint: if it fails nothing is lost.
    fn write(&self) {
        if self.file.as_os_str().is_empty() {
            return;
        }
        let text = serde_json::to_vec_pretty(&*lock(&self.all)).unwrap_or_default();
        let draft = self.file.with_extension("json.new");
        let written = write_private(&draft, &text).and_then(|()| fs::rename(&draft, &*self.file));
        if let Err(error) = written {
            tracing::debug!(%error, "cannot remember the eras of servers");
        }
    }
}

/// Writes a file that only its owner can read.
fn write_private(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(text)
}

impl ServerEra {
    /// What the server spoke the last time.
    pub fn known(&self) -> Option<Era> {
        let entry = *lock(&self.known.all).get(&self.key)?;
        let age = now().checked_sub(entry.since)?;
        (age < VALID.as_secs()).then_some(entry.era)
    }

    /// Forgets what the server spoke, because it does not hold any more.
    pub fn forget(&self) {
        lock(&self.known.all).remove(&self.key);
    }

    /// Remembers what the server speaks.
    pub fn remember(&self, era: Era) {
        if self.known() == Some(era) {
            return;
        }
        let entry = Entry { era, since: now() };
        lock(&self.known.all).insert(self.key.clone(), entry);
        let known = self.known.clone();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || known.write())),
            Err(_) => known.write(),
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eras_outlive_the_process_but_not_the_week() {
        let folder = tempfile::tempdir().expect("a folder");
        let known = KnownEras::read(folder.path());
        let one = known.for_server("a", "http://a.example/?key=s3cret");
        assert_eq!(one.known(), None);
        one.remember(Era::Legacy);
        let again = KnownEras::read(folder.path());
        assert_eq!(
            again
                .for_server("a", "http://a.example/?key=s3cret")
                .known(),
            Some(Era::Legacy)
        );
        assert_eq!(again.for_server("a", "http://b.example/").known(), None);
        let file = folder.path().join(FILE);
        let text = fs::read_to_string(&file).expect("a file");
        assert!(!text.contains("s3cret"), "{text}");
        let since = lock(&again.all).values().next().expect("an entry").since;
        let old = text.replace(&since.to_string(), &(since - VALID.as_secs()).to_string());
        fs::write(&file, old).expect("written");
        let old = KnownEras::read(folder.path());
        assert_eq!(
            old.for_server("a", "http://a.example/?key=s3cret").known(),
            None
        );
        fs::write(&file, "not json").expect("written");
        assert_eq!(
            KnownEras::read(folder.path()).for_server("a", "x").known(),
            None
        );
    }
}
