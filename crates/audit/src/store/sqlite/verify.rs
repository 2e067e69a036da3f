//! `verify`: walks every record once, in the order of the store, and names the first that does not hold.
//!
//! Each chain's numbers, hashes, first record and links are checked on the way, its checkpoints as they are passed; at the end
//! what was signed for but is gone, what must have been signed for and is not, the roll-ups and the catalogue. One read
//! snapshot, memory for the chains, checkpoints and roll-ups only. Changes nothing.

use std::collections::HashMap;
use std::path::PathBuf;

use rusqlite::{Connection, Row};

use super::files::Files;
use super::index_check::IndexCheck;
use super::tree::SqliteTree;
use crate::chain::{Checkpoint, CheckpointKind, TrustedKeys};
use crate::digest::Digest;
use crate::id::Ulid;
use crate::record::Head;
use crate::store::StoreError;
use crate::store::signed_statements::SignedStatements;
use crate::store::tree::TreeCheck;
use crate::store::verification::{Break, BreakKind, Verification};
use crate::store::walk::{ChainRow, Walk};
use crate::time::Timestamp;

mod copies;
#[cfg(test)]
mod tests;

use copies::working_copies;

/// Walks the whole store.
pub(crate) fn verify(
    connection: &Connection,
    files: &Files,
    trusted: &TrustedKeys,
    anchors: &[PathBuf],
) -> Result<Verification, StoreError> {
    let mut signed = SignedStatements::default();
    signed.add_logs(&files.data_dir, anchors, trusted)?;
    let snapshot = connection
        .unchecked_transaction()
        .map_err(StoreError::Read)?;
    let mut index_check = IndexCheck::new(&snapshot).map_err(StoreError::Read)?;
    add_tables(&mut signed, &snapshot, trusted).map_err(StoreError::Read)?;
    let published = signed.published.len() as u64;
    let tree = TreeCheck::run(&mut SqliteTree(&snapshot), trusted, &mut signed);
    let tree = tree.map_err(StoreError::Read)?;
    let mut walk = Walk::in_order(signed);
    let broken = match walk_records(&mut walk, &snapshot, &mut index_check) {
        Ok(broken) => broken.or_else(|| walk.signature_break()),
        // A page that cannot be read is a break, not a failure to verify.
        Err(_) => Some(Break {
            seq: Some(walk.last_seq() + 1),
            ..Break::new(BreakKind::Unreadable)
        }),
    };
    let broken = broken.or_else(|| tree.first_break());
    let broken = match broken {
        None => working_copies(&walk, &snapshot, &mut index_check)?,
        broken => broken,
    };
    Ok(walk.finish(broken, (tree.size(), published)))
}

/// A table of signed statements, and what its rows state.
const SIGNED_TABLES: [(&str, CheckpointKind); 2] = [
    ("checkpoint", CheckpointKind::Head),
    ("floor", CheckpointKind::Floor),
];

fn add_tables(
    signed: &mut SignedStatements,
    connection: &Connection,
    trusted: &TrustedKeys,
) -> rusqlite::Result<()> {
    for (table, kind) in SIGNED_TABLES {
        let sql = format!(
            "SELECT ifnull(c.chain_id, ''), t.n, t.hash, t.at, t.lost, t.key, t.signature FROM {table} t LEFT JOIN chain c ON c.id = t.chain"
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            signed.add_stored(checkpoint(row, kind)?.as_ref(), trusted);
        }
    }
    Ok(())
}

pub(super) fn checkpoint(
    row: &Row<'_>,
    kind: CheckpointKind,
) -> rusqlite::Result<Option<Checkpoint>> {
    let (chain, hash): (String, Vec<u8>) = (row.get(0)?, row.get(2)?);
    let (Ok(chain_id), Some(hash)) = (chain.parse(), Digest::from_slice(&hash)) else {
        return Ok(None);
    };
    let head = Head {
        chain_id,
        n: row.get(1)?,
        hash,
    };
    let at = Timestamp::from_millis(row.get(3)?);
    Ok(Some(Checkpoint {
        kind,
        head,
        at,
        lost: row.get(4)?,
        key: row.get(5)?,
        signature: row.get(6)?,
    }))
}

fn walk_records(
    walk: &mut Walk,
    connection: &Connection,
    index_check: &mut IndexCheck<'_>,
) -> rusqlite::Result<Option<Break>> {
    let chains = known_chains(connection)?;
    let mut statement =
        connection.prepare("SELECT seq, chain, n, body, hash FROM activity ORDER BY seq")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let row = ChainRow {
            seq: row.get(0)?,
            chain_id: chains.get(&row.get(1)?).copied(),
            n: row.get(2)?,
            body: row.get_ref(3)?.as_bytes().unwrap_or_default(),
            hash: row.get_ref(4)?.as_bytes().ok().and_then(Digest::from_slice),
        };
        let record = match walk.row(&row) {
            Ok(record) => record,
            Err(broken) => return Ok(Some(*broken)),
        };
        index_check.add(row.seq, &record)?;
    }
    Ok(None)
}

fn known_chains(connection: &Connection) -> rusqlite::Result<HashMap<i64, Ulid>> {
    let mut statement = connection.prepare("SELECT id, chain_id FROM chain")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let mut chains = HashMap::new();
    for row in rows {
        let (id, text) = row?;
        if let Ok(chain_id) = text.parse() {
            chains.insert(id, chain_id);
        }
    }
    Ok(chains)
}
