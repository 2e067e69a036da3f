//! Journals of processes that were killed.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::entries::{Entry, JournalKey, decode};
use super::{paths, remove};
use crate::id::Ulid;
use crate::private::private_journal;
use crate::record::body::Body;
use crate::store::StoreError;

/// A journal is never much longer than what waits for the writer. A longer file was not written by this program.
const MAX_BYTES: u64 = 1 << 30;

/// The journal of a process that is gone.
pub(crate) struct AbandonedJournal {
    pub(crate) chain: Ulid,
    paths: [PathBuf; 2],
    /// What is in them.
    files: [Vec<u8>; 2],
    /// Held until it is removed.
    _lock: File,
}

/// The records of a journal.
pub(crate) struct JournalRecords {
    /// Each has a place in the database that is greater than this.
    pub(crate) floor: u64,
    /// In their order.
    pub(crate) bodies: Vec<Body>,
}

impl AbandonedJournal {
    /// Whether nothing was ever written to it, or all of it is known to be in the database.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.iter().all(Vec::is_empty)
    }

    /// The records that the process of this journal has written, which only its key can tell. Nothing if there are none.
    pub(crate) fn records(&self, key: &JournalKey) -> Option<JournalRecords> {
        let mut cycles = self.files.each_ref().map(|file| decode(file, key));
        cycles.sort_by_key(|entries| entries.first().map(|entry| entry.cycle.number));
        let entries: Vec<Entry> = cycles.into_iter().flatten().collect();
        let floor = entries.iter().map(|entry| entry.cycle.floor).min()?;
        let bodies = entries.into_iter().map(|entry| entry.body).collect();
        Some(JournalRecords { floor, bodies })
    }

    /// Removes its files.
    pub(crate) fn remove(self) {
        remove(&self.paths);
    }
}

/// The journals beside a database that no process holds. Call it under the store's lock.
pub(crate) fn abandoned(database: &Path) -> Result<Vec<AbandonedJournal>, StoreError> {
    let folder = database.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(StoreError::file(folder))? {
        let path = entry.map_err(StoreError::file(folder))?.path();
        if let Some(chain) = chain_of(database, &path) {
            found.extend(open(database, chain).map_err(StoreError::file(&path))?);
        }
    }
    // In the order in which their processes started.
    found.sort_by_key(|journal| journal.chain);
    Ok(found)
}

/// The chain whose first file this is.
fn chain_of(database: &Path, path: &Path) -> Option<Ulid> {
    let name = path.file_name()?.to_str()?;
    let (rest, _) = name.rsplit_once("-0")?;
    let (_, chain) = rest.rsplit_once('-')?;
    let chain = chain.parse().ok()?;
    (paths(database, chain)[0].file_name() == path.file_name()).then_some(chain)
}

fn open(database: &Path, chain: Ulid) -> io::Result<Option<AbandonedJournal>> {
    let paths = paths(database, chain);
    let mut lock = private_journal().open(&paths[0])?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let files = [
        read(&mut lock)?,
        read(&mut private_journal().open(&paths[1])?)?,
    ];
    Ok(Some(AbandonedJournal {
        chain,
        paths,
        files,
        _lock: lock,
    }))
}

fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
