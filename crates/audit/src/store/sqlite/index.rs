//! The tables of the index database. Everything in them is derived from the append table; deleting the file loses nothing but
//! the roll-up of records that retention has removed since.
//!
//! Names are integers from a dictionary; `place` is a pair of server and tool. A batch of records is a row of `batch` and a row of
//! `posting` for each value that occurs in it, with the places of the records that have the value. What is as good as unique (`id`,
//! `request_id`, `parent_id`) is a `key` instead. A `run` of keys has the times of the oldest and of the newest id in it.

use rusqlite::{Connection, OptionalExtension};

use super::transaction::immediate;
use crate::record::Status;
use crate::store::StoreError;

/// Raise it whenever a table below changes, or what is written into one: the index is then built anew.
const FORMAT: i64 = 7;

pub(super) const TABLES: &str = "
    CREATE TABLE state(only INTEGER PRIMARY KEY CHECK (only = 1), store TEXT NOT NULL, seq INTEGER NOT NULL) STRICT;
    CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE place(id INTEGER PRIMARY KEY, server INTEGER NOT NULL, tool INTEGER NOT NULL, UNIQUE(server, tool)) STRICT;
    CREATE TABLE batch(
        last INTEGER PRIMARY KEY, least INTEGER NOT NULL, greatest INTEGER NOT NULL, seqs BLOB NOT NULL, times BLOB NOT NULL
    ) STRICT;
    CREATE TABLE epoch(id INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE posting(
        epoch INTEGER NOT NULL, term INTEGER NOT NULL, last INTEGER NOT NULL, seqs BLOB NOT NULL, PRIMARY KEY(epoch, term, last)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE run(
        id INTEGER PRIMARY KEY, level INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL,
        oldest_id INTEGER NOT NULL, newest_id INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE key(
        run INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL, keys BLOB NOT NULL, PRIMARY KEY(run, hash, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE span(bucket INTEGER PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL) STRICT;
    CREATE TABLE rollup(
        hour INTEGER NOT NULL, place INTEGER NOT NULL, kind INTEGER NOT NULL, status INTEGER NOT NULL, count INTEGER NOT NULL,
        validated INTEGER NOT NULL, rejected INTEGER NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY(hour, place, kind, status)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE rollup_rule(
        hour INTEGER NOT NULL, rule INTEGER NOT NULL, place INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(hour, rule, place)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE recent(
        minute INTEGER NOT NULL, server INTEGER NOT NULL, validated INTEGER NOT NULL, rejected INTEGER NOT NULL,
        PRIMARY KEY(minute, server)
    ) STRICT, WITHOUT ROWID;
";

/// Width of a `span`: the places in the store that a stretch of time may occupy.
pub(super) const BUCKET_MILLIS: u64 = 600_000;
pub(super) const HOUR_MILLIS: u64 = 3_600_000;
pub(super) const MINUTE_MILLIS: u64 = 60_000;

/// Makes sure the index fits the format and belongs to this store; builds it anew if not. Call it under the store's lock.
pub(super) fn ensure(index: &Connection, main: &Connection) -> Result<(), StoreError> {
    let store: Option<String> = main
        .query_row(
            "SELECT chain_id FROM chain ORDER BY id LIMIT 1",
            [],
            |row| row.get(0),
        )
        .optional()
        .map_err(StoreError::Read)?;
    let store = store.unwrap_or_default();
    if fits(index, &store) {
        return Ok(());
    }
    let transaction = immediate(index)?;
    let build = || -> rusqlite::Result<()> {
        let mut statement = transaction.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        )?;
        let tables: Vec<String> = statement
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for table in tables {
            transaction.execute_batch(&format!("DROP TABLE \"{}\"", table.replace('"', "\"\"")))?;
        }
        transaction.execute_batch(TABLES)?;
        transaction.execute(
            "INSERT INTO state(only, store, seq) VALUES (1, ?1, 0)",
            [&store],
        )?;
        transaction.pragma_update(None, "user_version", FORMAT)
    };
    build().map_err(StoreError::Write)?;
    transaction.commit().map_err(StoreError::Write)
}

fn fits(index: &Connection, store: &str) -> bool {
    let format = index.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    let belongs = index.query_row("SELECT store FROM state", [], |row| row.get::<_, String>(0));
    format.is_ok_and(|format| format == FORMAT) && belongs.is_ok_and(|belongs| belongs == store)
}

/// What a `posting` is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Dimension {
    Kind = 0,
    Status = 1,
    Decision = 2,
    Server = 3,
    Place = 4,
    Rule = 5,
    Stage = 6,
    Caller = 7,
    /// A server and a status: see [`PlacedStatus`].
    ServerStatus = 8,
    /// A place and a status.
    PlaceStatus = 9,
}

impl Dimension {
    /// A value of this dimension as one integer.
    pub(super) fn term(self, value: i64) -> i64 {
        (value << 4) | self as i64
    }
}

/// A status that has postings together with each server and each place, because operators ask what was refused or failed
/// there. All statuses but success do: those records are few, so these postings are, too.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedStatus(Status);

impl PlacedStatus {
    const BITS: u32 = 3;

    pub(super) fn new(status: Status) -> Option<Self> {
        (status != Status::Success).then_some(Self(status))
    }

    pub(super) fn server_term(self, server: i64) -> i64 {
        Dimension::ServerStatus.term(self.beside(server))
    }

    pub(super) fn place_term(self, place: i64) -> i64 {
        Dimension::PlaceStatus.term(self.beside(place))
    }

    fn beside(self, value: i64) -> i64 {
        (value << Self::BITS) | self.0.code()
    }
}

const _: () = assert!(Status::ALL.len() <= 1 << PlacedStatus::BITS);

/// Postings are kept by stretches of this many places, as a power of two, so that a batch changes few pages however long the
/// store is.
const EPOCH_BITS: u32 = 16;

pub(super) fn epoch(seq: u64) -> u64 {
    seq >> EPOCH_BITS
}

/// The last place of the stretch that `seq` is in.
pub(super) fn end_of_epoch(seq: u64) -> u64 {
    seq | ((1 << EPOCH_BITS) - 1)
}
