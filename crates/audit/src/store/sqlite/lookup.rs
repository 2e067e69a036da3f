//! Small questions to the index on the way to a plan: the integers of names, how many records a value names, where a time begins.

use rusqlite::{Connection, OptionalExtension, params, types::Value};

use super::index::{BUCKET_MILLIS, Dimension};

/// The first place a record of this time or later may have, among those indexed.
pub(super) fn first_place(connection: &Connection, millis: u64) -> rusqlite::Result<Option<u64>> {
    connection.query_row(
        "SELECT min(low) FROM ix.span WHERE bucket >= ?1",
        [millis / BUCKET_MILLIS],
        |row| row.get(0),
    )
}

pub(super) fn integer(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

pub(super) fn joined(values: &[i64]) -> String {
    values
        .iter()
        .map(i64::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

pub(super) fn tally(
    connection: &Connection,
    dimension: Dimension,
    values: &[i64],
) -> rusqlite::Result<u64> {
    let sql = format!(
        "SELECT ifnull(sum(count), 0) FROM ix.tally WHERE dimension = ?1 AND value IN ({})",
        joined(values)
    );
    connection.query_row(&sql, [dimension as i64], |row| row.get(0))
}

/// The integers of the names that have been seen.
pub(super) fn names(connection: &Connection, texts: &[String]) -> rusqlite::Result<Vec<i64>> {
    let mut ids = Vec::with_capacity(texts.len());
    for text in texts {
        let id: Option<i64> = connection
            .prepare_cached("SELECT id FROM ix.name WHERE text = ?1")?
            .query_row([text], |row| row.get(0))
            .optional()?;
        ids.extend(id);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

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

pub(super) fn has_serverless(connection: &Connection, places: &[i64]) -> rusqlite::Result<bool> {
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM ix.place WHERE server = 0 AND id IN ({}))",
        joined(places)
    );
    connection.query_row(&sql, params![], |row| row.get(0))
}
