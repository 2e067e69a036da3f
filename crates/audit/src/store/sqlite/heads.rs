//! The heads of the chains in a store, as the first record of a new chain names them.
//!
//! That record is signed at once, so from then on it proves how far every chain had come: a tail that a crash left without a
//! checkpoint is signed for, and a chain that is removed as a whole is missed.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::indexer;
use crate::digest::Digest;
use crate::id::Ulid;
use crate::record::Head;

/// Heads named in one record. More chains than this between two starts are not expected.
const MAX_NAMED: usize = 500;
/// Records looked at for heads. Only a store that has never named its heads is read as a whole.
const MAX_ROWS: u64 = 100_000;

/// The last record of the store, whatever its chain.
pub(super) fn last(connection: &Connection) -> rusqlite::Result<Option<Head>> {
    let sql = "SELECT c.chain_id, a.n, a.hash FROM activity a JOIN chain c ON c.id = a.chain ORDER BY a.seq DESC LIMIT 1";
    let found: Option<(String, u64, [u8; 32])> = connection
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(found.and_then(|(chain, n, hash)| {
        Some(Head {
            chain_id: chain.parse().ok()?,
            n,
            hash: Digest::from_bytes(hash),
        })
    }))
}

/// The head of each chain that wrote since the last first record that named heads, newest first. The others were named then.
pub(super) fn since_last_named(connection: &Connection) -> rusqlite::Result<Vec<Head>> {
    let opened: Option<u64> =
        connection.query_row("SELECT max(opened) FROM chain", [], |row| row.get(0))?;
    let newest = indexer::last(connection)?;
    let from = opened.map_or(0, |seq| seq.max(newest.saturating_sub(MAX_ROWS)));
    let mut heads: HashMap<i64, (u64, u64, Digest)> = HashMap::new();
    let mut statement = connection
        .prepare("SELECT seq, chain, n, hash FROM activity WHERE seq >= ?1 ORDER BY seq")?;
    let mut rows = statement.query([from])?;
    while let Some(row) = rows.next()? {
        let hash: [u8; 32] = row.get(3)?;
        heads.insert(
            row.get(1)?,
            (row.get(0)?, row.get(2)?, Digest::from_bytes(hash)),
        );
    }
    let mut heads: Vec<_> = heads.into_iter().collect();
    heads.sort_unstable_by_key(|(_, (seq, _, _))| std::cmp::Reverse(*seq));
    heads.truncate(MAX_NAMED);
    let mut named = Vec::with_capacity(heads.len());
    for (chain, (_, n, hash)) in heads {
        let chain_id = chain_id(connection, chain)?;
        named.extend(chain_id.map(|chain_id| Head { chain_id, n, hash }));
    }
    Ok(named)
}

fn chain_id(connection: &Connection, chain: i64) -> rusqlite::Result<Option<Ulid>> {
    let text: Option<String> = connection
        .prepare_cached("SELECT chain_id FROM chain WHERE id = ?1")?
        .query_row([chain], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| text.parse().ok()))
}

/// Notes where the first record of a chain is.
pub(super) fn note_opening(connection: &Connection, chain: i64, seq: u64) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE chain SET opened = ?2 WHERE id = ?1",
        params![chain, seq],
    )?;
    Ok(())
}
