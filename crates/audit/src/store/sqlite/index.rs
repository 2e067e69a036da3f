//! The tables of the index database. Everything in them is derived from the append table; deleting the file loses nothing but
//! the roll-up of records that retention has removed since.
//!
//! Names are integers from a dictionary; `place` is a pair of server and tool. Indexes are partial where one value is the rule
//! (a successful call), so that ordinary traffic pays for four of them.

use rusqlite::{Connection, OptionalExtension};

use super::transaction::immediate;
use crate::record::Stage;
use crate::store::StoreError;

/// Raise it whenever a table below changes, or what is written into one: the index is then built anew.
const FORMAT: i64 = 3;

const TABLES: &str = "
    CREATE TABLE state(only INTEGER PRIMARY KEY CHECK (only = 1), store TEXT NOT NULL, seq INTEGER NOT NULL) STRICT;
    CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE place(id INTEGER PRIMARY KEY, server INTEGER NOT NULL, tool INTEGER NOT NULL, UNIQUE(server, tool)) STRICT;
    CREATE TABLE entry(
        seq INTEGER PRIMARY KEY, id BLOB NOT NULL, at INTEGER NOT NULL, kind INTEGER NOT NULL, status INTEGER NOT NULL,
        decision INTEGER, server INTEGER NOT NULL, place INTEGER NOT NULL, client INTEGER NOT NULL, request_id TEXT, parent BLOB
    ) STRICT;
    CREATE INDEX entry_id ON entry(id);
    CREATE INDEX entry_server ON entry(server) WHERE server <> 0;
    CREATE INDEX entry_place ON entry(place) WHERE server <> 0;
    CREATE INDEX entry_kind ON entry(kind) WHERE kind <> 0;
    CREATE INDEX entry_status ON entry(status) WHERE status <> 0;
    CREATE INDEX entry_decision ON entry(decision) WHERE decision IS NOT NULL;
    CREATE INDEX entry_request ON entry(request_id) WHERE request_id IS NOT NULL;
    CREATE INDEX entry_parent ON entry(parent) WHERE parent IS NOT NULL;
    CREATE TABLE found(term INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(term, seq)) STRICT, WITHOUT ROWID;
    CREATE INDEX found_seq ON found(seq);
    CREATE TABLE span(bucket INTEGER PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL) STRICT;
    CREATE TABLE tally(dimension INTEGER NOT NULL, value INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(dimension, value))
        STRICT, WITHOUT ROWID;
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

/// What a `tally` counts, to choose the most selective index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Dimension {
    Kind = 0,
    Status = 1,
    Decision = 2,
    Server = 3,
    Place = 4,
    Term = 5,
}

/// A stage as a term of `found`: its place in the pipeline's list, negative so that it never meets a name.
pub(super) fn stage_term(stage: Stage) -> i64 {
    -1 - stage as i64
}
