//! Where the embedded store lives, and how its files are opened.
//!
//! `activity.db` holds what is appended; `activity-index.db` beside it holds what can be derived, in a file of its own so that the
//! indexer's transactions never make a commit wait. A lock file serialises opening: two processes may start at once.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::chain::KEY_FILE;
use crate::private::{close_to_others, make_private_dir, private_file};
use crate::store::{Options, StoreError};

/// Negative, as `SQLite` counts pages otherwise.
const INDEX_CACHE_KIB: i64 = -8192;

/// Bytes of a page in a new database; one that exists keeps its size. Each page that a commit changes costs two system calls.
/// The main database is appended to, some records a commit, and records are long: in pages twice as large as usual, a
/// commit fills a new page, and so changes the two pages that name it, half as often.
const MAIN_PAGE_BYTES: u32 = 8192;
const INDEX_PAGE_BYTES: u32 = 4096;

/// The paths of one store.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) data_dir: PathBuf,
    pub(crate) main: PathBuf,
    pub(crate) index: PathBuf,
    pub(crate) busy_timeout: Duration,
}

impl Files {
    pub(crate) fn new(options: &Options) -> Self {
        let main = options
            .database
            .clone()
            .unwrap_or_else(|| options.data_dir.join("activity.db"));
        let mut stem = main.file_stem().unwrap_or_default().to_owned();
        stem.push("-index.db");
        let index = main.with_file_name(stem);
        Self {
            data_dir: options.data_dir.clone(),
            main,
            index,
            busy_timeout: options.busy_timeout,
        }
    }

    /// Held while the store is created or migrated. Freed when the file is closed, however the process ends.
    pub(crate) fn lock(&self) -> Result<File, StoreError> {
        let path = self.main.with_extension("lock");
        let failed = StoreError::file(&path);
        let file = private_file().open(&path).map_err(&failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }

    /// Makes the folders of the store, for its owner alone.
    pub(crate) fn create_dir(&self) -> Result<(), StoreError> {
        for dir in [Some(self.data_dir.as_path()), self.main.parent()]
            .into_iter()
            .flatten()
        {
            make_private_dir(dir).map_err(StoreError::file(dir))?;
        }
        self.close_dir()
    }

    /// Takes from other users what they may do with the data directory and the files in it. A signing key that others
    /// could read stays readable: they may have a copy, so it is refused where it is used instead.
    pub(crate) fn close_dir(&self) -> Result<(), StoreError> {
        close_to_others(&self.data_dir, KEY_FILE).map_err(StoreError::file(&self.data_dir))
    }

    pub(crate) fn open_main(&self, create: bool) -> Result<Connection, StoreError> {
        open(&self.main, self.busy_timeout, MAIN_PAGE_BYTES, create)
    }

    /// Both databases on one connection, the index as `ix`.
    pub(crate) fn open_both(&self) -> Result<Connection, StoreError> {
        let connection = self.open_main(false)?;
        let attached = connection.execute("ATTACH ?1 AS ix", [self.index.to_string_lossy()]);
        attached.map_err(StoreError::open(&self.index))?;
        Ok(connection)
    }

    /// Removes the index. What is missing then is missed when it is opened again.
    pub(crate) fn remove_index(&self) {
        for suffix in ["", "-wal", "-shm"] {
            let mut path = self.index.clone().into_os_string();
            path.push(suffix);
            std::fs::remove_file(path).ok();
        }
    }

    /// For the indexer: it inserts all over the index, so it keeps more of it in memory than the others.
    pub(crate) fn open_index(&self) -> Result<Connection, StoreError> {
        let connection = open(&self.index, self.busy_timeout, INDEX_PAGE_BYTES, true)?;
        let cached = connection.pragma_update(None, "cache_size", INDEX_CACHE_KIB);
        cached.map_err(StoreError::open(&self.index))?;
        Ok(connection)
    }
}

fn open(
    path: &Path,
    busy_timeout: Duration,
    page_bytes: u32,
    create: bool,
) -> Result<Connection, StoreError> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
    if create {
        // `SQLite` would make a file that others may read; what it makes beside it has the rights of this one.
        private_file().open(path).map_err(StoreError::file(path))?;
    }
    let connect = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(busy_timeout)?;
        // Otherwise a statement with `LIMIT ?` is planned anew each time it gets another value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.pragma_update(None, "page_size", page_bytes)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // Checkpointing inside a commit makes that commit slow; the maintenance thread does it.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    };
    connect().map_err(StoreError::open(path))
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    fn files(dir: &tempfile::TempDir) -> Files {
        Files::new(&Options::new(dir.path().to_owned()))
    }

    fn page_bytes(connection: &Connection) -> u32 {
        connection
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .expect("page size")
    }

    #[test]
    fn a_statement_is_planned_once_for_all_limits() {
        let dir = tempfile::tempdir().expect("tempdir");
        let connection = files(&dir).open_main(true).expect("opens");
        connection
            .execute_batch(
                "CREATE TABLE t(a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)",
            )
            .expect("table");
        let mut statement = connection
            .prepare("SELECT count(*) FROM (SELECT a FROM t ORDER BY a LIMIT ?1)")
            .expect("prepares");
        for limit in 1..=3 {
            let count = statement.query_row([limit], |row| row.get::<_, i64>(0));
            assert_eq!(count, Ok(limit));
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }

    #[test]
    fn a_database_keeps_the_page_size_it_was_made_with() {
        let dir = tempfile::tempdir().expect("tempdir");
        let files = files(&dir);
        let old = Connection::open(&files.main).expect("opens");
        old.execute_batch("PRAGMA page_size = 4096; CREATE TABLE t(a)")
            .expect("table");
        drop(old);
        assert_eq!(page_bytes(&files.open_main(false).expect("opens")), 4096);
        std::fs::remove_file(&files.main).expect("removed");
        let new = files.open_main(true).expect("opens");
        assert_eq!(page_bytes(&new), MAIN_PAGE_BYTES);
        let index = files.open_index().expect("opens");
        assert_eq!(page_bytes(&index), INDEX_PAGE_BYTES);
    }
}
