//! What can go wrong with the store itself. A record that is refused or lost is not an error but `Evidence`.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::postgres::PostgresError;
use crate::chain::KeyError;
use countersign_inspect::UnknownWord;

use crate::record::DecodeError;

/// The store could not do its job.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or directory of the store could not be used.
    #[error("cannot use {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The database could not be opened.
    #[error("cannot open the activity database {path}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rusqlite::Error,
    },
    /// The database was written by a newer version.
    #[error(
        "the activity database has format {found}, this program knows up to {known}; use a newer version"
    )]
    Newer {
        /// The format found.
        found: i64,
        /// The newest format known.
        known: i64,
    },
    /// The signing key could not be had.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A thread could not be started.
    #[error("cannot start a thread of the activity store")]
    Thread(#[source] io::Error),
    /// Reading failed.
    #[error("cannot read the activity database")]
    Read(#[source] rusqlite::Error),
    /// Writing failed.
    #[error("cannot write the activity database")]
    Write(#[source] rusqlite::Error),
    /// PostgreSQL failed, or could not be reached.
    #[error("cannot use the PostgreSQL store")]
    Postgres(#[source] Box<PostgresError>),
    /// The size limit is reached and nothing may be removed.
    #[error(
        "the activity store has reached its size limit and holds only records younger than the retention floor; raise activity.max_size_mb or lower activity.retention_floor_days"
    )]
    OverLimit,
    /// A stored record cannot be read.
    #[error("record number {seq} cannot be read; run: activity verify")]
    Record {
        /// Its place in the store.
        seq: u64,
        /// Why.
        #[source]
        source: DecodeError,
    },
    /// A record could not be written as JSON.
    #[error("a record cannot be encoded")]
    Encode(#[source] serde_json::Error),
    /// The output could not be written.
    #[error("cannot write the export")]
    Output(#[source] io::Error),
    /// There is no receipt for a record.
    #[error(transparent)]
    NoReceipt(#[from] NoReceipt),
    /// A setting has a value outside its set.
    #[error(transparent)]
    Setting(#[from] UnknownWord),
}

/// Why there is no receipt for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoReceipt {
    /// No record has this id.
    #[error("no record has this id")]
    Unknown,
    /// No signed head of the log covers it.
    #[error(
        "no signed head of the log covers the record yet: a running gateway signs within about a minute; records of versions without receipts are never covered"
    )]
    NotSigned,
    /// The store does not hold what it signed for.
    #[error("the store differs from what was signed for; run: activity verify")]
    Changed,
}

impl StoreError {
    /// Says of an error that it is about this file.
    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::File {
            path: path.to_owned(),
            source,
        }
    }

    /// Says of an error that it kept this database from being opened.
    pub(crate) fn open(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        move |source| Self::Open {
            path: path.to_owned(),
            source,
        }
    }

    pub(crate) fn postgres(error: PostgresError) -> Self {
        Self::Postgres(Box::new(error))
    }

    /// Trying again does not help: what was to be written is at fault.
    pub(crate) fn is_hopeless(&self) -> bool {
        match self {
            Self::Postgres(error) => error.is_hopeless(),
            _ => true,
        }
    }

    /// The database is locked by another process, or busy.
    pub fn is_busy(&self) -> bool {
        let (Self::Open { source, .. } | Self::Read(source) | Self::Write(source)) = self else {
            return false;
        };
        matches!(
            source.sqlite_error_code(),
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
        )
    }

    /// The disk, or what the store may use of it, is full.
    pub fn is_full(&self) -> bool {
        match self {
            Self::OverLimit => return true,
            Self::Postgres(error) => return error.is_full(),
            _ => {}
        }
        let (Self::Open { source, .. } | Self::Read(source) | Self::Write(source)) = self else {
            return false;
        };
        source.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
    }
}

impl From<PostgresError> for StoreError {
    fn from(error: PostgresError) -> Self {
        Self::postgres(error)
    }
}
