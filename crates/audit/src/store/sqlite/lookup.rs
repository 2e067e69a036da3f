//! Small questions to the index on the way to a plan: the integers of names, where a time begins, which batch a record is in.

use rusqlite::{Connection, OptionalExtension};

use super::index::BUCKET_MILLIS;

/// The first place a record of this time or later may have, among those indexed.
pub(super) fn first_place(connection: &Connection, millis: u64) -> rusqlite::Result<Option<u64>> {
    connection.query_row(
        "SELECT min(low) FROM ix.span WHERE bucket >= ?1",
        [millis / BUCKET_MILLIS],
        |row| row.get(0),
    )
}

/// The batch that a record belongs to, by its last place.
pub(super) fn batch_of(connection: &Connection, seq: u64) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare_cached("SELECT min(last) FROM ix.batch WHERE last >= ?1")?
        .query_row([seq], |row| row.get(0))
}

pub(super) fn newest_batch(connection: &Connection) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare_cached("SELECT max(last) FROM ix.batch")?
        .query_row([], |row| row.get(0))
}

/// The integers of the names that have been seen. Nothing if names are given and none of them has been.
pub(super) fn names(
    connection: &Connection,
    texts: &[String],
) -> rusqlite::Result<Option<Vec<i64>>> {
    let mut ids = Vec::with_capacity(texts.len());
    for text in texts {
        ids.extend(name(connection, text)?);
    }
    Ok((texts.is_empty() || !ids.is_empty()).then_some(ids))
}

pub(super) fn name(connection: &Connection, text: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT id FROM ix.name WHERE text = ?1")?
        .query_row([text], |row| row.get(0))
        .optional()
}

pub(super) fn place(
    connection: &Connection,
    server: i64,
    tool: i64,
) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT id FROM ix.place WHERE server = ?1 AND tool = ?2")?
        .query_row([server, tool], |row| row.get(0))
        .optional()
}

/// The places of these tools, on these servers if any are given.
pub(super) fn places_of(
    connection: &Connection,
    tools: &[i64],
    servers: &[i64],
) -> rusqlite::Result<Vec<i64>> {
    let of_server = if servers.is_empty() {
        String::new()
    } else {
        format!(" AND server IN ({})", joined(servers))
    };
    let sql = format!(
        "SELECT id FROM ix.place WHERE tool IN ({}){of_server}",
        joined(tools)
    );
    connection
        .prepare(&sql)?
        .query_map([], |row| row.get(0))?
        .collect()
}

fn joined(values: &[i64]) -> String {
    values
        .iter()
        .map(i64::to_string)
        .collect::<Vec<_>>()
        .join(",")
}
