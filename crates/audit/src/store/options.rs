//! `Options`: everything a store is opened with, typed and with the defaults of the configuration file.
//!
//! Refuses nothing by itself; paths and keys are tried when the store is opened.

use std::path::PathBuf;
use std::time::Duration;

use countersign_inspect::word_enum;

const DAY: Duration = Duration::from_hours(24);
const MIB: u64 = 1024 * 1024;

word_enum! {
    /// When a record counts as written.
    #[derive(Default)]
    pub enum Durability("durability") {
        /// Committed to the write-ahead log: survives the death of the process.
        #[default]
        Commit = "commit",
        /// Committed and flushed to the disk: survives the loss of power.
        Sync = "sync",
        /// In a bounded queue: may be lost with the process, and is dropped, and counted, when the queue is full.
        Async = "async",
    }
}

/// What is kept. Whatever exceeds a limit goes, oldest first, but nothing younger than `floor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Records older than this go.
    pub max_age: Option<Duration>,
    /// More records than this go.
    pub max_records: Option<u64>,
    /// Records go until the store uses no more than this. The catalogue is not counted; it has its own limit.
    pub max_bytes: Option<u64>,
    /// Nothing younger than this goes, whatever the other limits say. Where that leaves more than `max_bytes`, the store takes no
    /// more records until something may go.
    pub floor: Duration,
}

impl Retention {
    /// Keep everything.
    pub const FOR_EVER: Self = Self {
        max_age: None,
        max_records: None,
        max_bytes: None,
        floor: Duration::ZERO,
    };
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            max_age: Some(DAY * 90),
            max_records: Some(1_000_000),
            max_bytes: Some(1024 * MIB),
            floor: DAY,
        }
    }
}

/// What a store is opened with.
#[derive(Clone)]
pub struct Options {
    /// Where the database, if it is a file, the signing key and `checkpoints.log` live.
    pub data_dir: PathBuf,
    /// The PostgreSQL database, as a URL, instead of a file.
    pub postgres_url: Option<String>,
    /// How long a call waits for PostgreSQL to commit its records. After that its evidence is `StoreDown`, and the records
    /// are still written once the database takes them.
    pub store_timeout: Duration,
    /// The database file, if not `activity.db` in the data directory.
    pub database: Option<PathBuf>,
    /// When a record counts as written.
    pub durability: Durability,
    /// What is kept.
    pub retention: Retention,
    /// What the catalogue keeps of each server. What exceeds it goes: replaced declarations first, oldest first.
    pub catalogue_bytes_per_server: u64,
    /// The signing key as 64 hexadecimal digits, if not the data directory's own.
    pub signing_key: Option<String>,
    /// The key that signed before, as 64 hexadecimal digits: it signs log heads as well, while readers learn the new one.
    pub previous_signing_key: Option<String>,
    /// The name of the log in its heads and receipts, if not the one that is made with the store.
    pub log_origin: Option<String>,
    /// How often the log's head is signed, if it grew.
    pub log_period: Duration,
    /// What is started, as `system_start` says it.
    pub version: String,
    /// How many calls' records may wait for the writer.
    pub queue: usize,
    /// How long to wait for another process's transaction, or for one answer of PostgreSQL.
    pub busy_timeout: Duration,
    /// A checkpoint is signed after this many records …
    pub checkpoint_records: u64,
    /// … or after this long, if there were any.
    pub checkpoint_period: Duration,
}

impl Options {
    /// The defaults, in this data directory.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            postgres_url: None,
            store_timeout: Duration::from_secs(2),
            database: None,
            durability: Durability::Commit,
            retention: Retention::default(),
            catalogue_bytes_per_server: 16 * MIB,
            signing_key: None,
            previous_signing_key: None,
            log_origin: None,
            log_period: Duration::from_secs(10),
            version: concat!("countersign ", env!("CARGO_PKG_VERSION")).to_owned(),
            queue: 4096,
            busy_timeout: Duration::from_secs(5),
            checkpoint_records: 1000,
            checkpoint_period: Duration::from_mins(1),
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("data_dir", &self.data_dir)
            .field("database", &self.database)
            .field("postgres_url", &self.postgres_url.as_ref().map(|_| "given"))
            .field("durability", &self.durability)
            .field("retention", &self.retention)
            .field("signing_key", &self.signing_key.as_ref().map(|_| "given"))
            .finish_non_exhaustive()
    }
}
