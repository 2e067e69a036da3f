//! The heads of the chains in a store, as the first record of a new chain names them.
//!
//! Processes write at the same time, so a head named here need not be the last record of its chain, only one that was
//! there: `verify` asks for no more.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::connection::Connection;
use super::error::PostgresError;
use super::value::{digest, unsigned};
use crate::id::Ulid;
use crate::record::Head;

/// Heads named in one record.
const MAX_NAMED: usize = 500;
/// Records looked at for heads.
const MAX_ROWS: i64 = 100_000;
/// A transaction that was under way when the last chain was begun may have an earlier place than its first record.
const SLACK: i64 = 4096 << 16;

/// The last record of the store, whatever its chain.
pub(super) fn last(connection: &mut Connection) -> Result<Option<Head>, PostgresError> {
    let sql = "SELECT c.chain_id, a.n, a.hash, a.chain FROM activity a JOIN chain c ON c.id = a.chain ORDER BY a.seq DESC LIMIT 1";
    let row = connection.first(sql, &[])?;
    Ok(row.as_ref().and_then(head))
}

/// The head of each chain that wrote since the last first record that named heads, newest first.
pub(super) fn since_last_named(connection: &mut Connection) -> Result<Vec<Head>, PostgresError> {
    let row = connection.first("SELECT max(opened) FROM chain", &[])?;
    let opened: Option<i64> = row.and_then(|row| row.get(0));
    let from = opened.map_or(0, |seq| seq.saturating_sub(SLACK));
    let sql =
        "SELECT c.chain_id, a.n, a.hash, a.chain FROM activity a JOIN chain c ON c.id = a.chain
               WHERE a.seq >= $1 ORDER BY a.seq DESC LIMIT $2";
    let (mut heads, mut known) = (Vec::new(), HashMap::<i32, usize>::new());
    connection.for_each(sql, &[&from, &MAX_ROWS], |row| {
        let Some(head) = head(row) else {
            return Ok(true);
        };
        match known.get(&row.get(3)) {
            // Batches of one chain are in the order of their numbers, but a retry may be late.
            Some(at) => {
                let newest: &mut Head = &mut heads[*at];
                if head.n > newest.n {
                    *newest = head;
                }
            }
            None if heads.len() < MAX_NAMED => {
                known.insert(row.get(3), heads.len());
                heads.push(head);
            }
            None => {}
        }
        Ok(true)
    })?;
    Ok(heads)
}

/// The last record of one chain: its number and its hash.
pub(super) fn of_chain(
    connection: &mut Connection,
    chain: i32,
    chain_id: Ulid,
) -> Result<Option<Head>, PostgresError> {
    let sql = "SELECT n, hash FROM activity WHERE chain = $1 ORDER BY n DESC LIMIT 1";
    let row = connection.first(sql, &[&chain])?;
    Ok(row.and_then(|row| {
        Some(Head {
            chain_id,
            n: unsigned(row.get(0)),
            hash: digest(&row, 1)?,
        })
    }))
}

fn head(row: &Row) -> Option<Head> {
    Some(Head {
        chain_id: row.get::<_, &str>(0).parse().ok()?,
        n: unsigned(row.get(1)),
        hash: digest(row, 2)?,
    })
}
