//! The tree of an embedded store: its tables, the task that lets it grow, and receipts from it.

use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Files;
use super::show;
use super::transaction::immediate;
use crate::digest::{Digest, NO_HASH};
use crate::id::Ulid;
use crate::proof::Receipt;
use crate::store::error::NoReceipt;
use crate::store::shared::Shared;
use crate::store::tree::{
    HeadSigner, KEPT_HEADS, Leaf, LeafRow, QueuedBatch, RecordPlace, Tile, TreeTables, best_head,
    grow, join_hashes, prove, read_tile,
};
use crate::store::{Options, StoreError};

/// The tables of the tree, on a connection that is in a transaction.
pub(super) struct SqliteTree<'c>(pub(super) &'c Connection);

impl SqliteTree<'_> {
    fn all<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut statement = self.0.prepare_cached(sql)?;
        statement.query_map(values, read)?.collect()
    }

    fn run(&self, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<()> {
        self.0.prepare_cached(sql)?.execute(values).map(drop)
    }

    fn first<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.0.prepare_cached(sql)?.query_row(values, read)
    }
}

impl TreeTables for SqliteTree<'_> {
    type Error = rusqlite::Error;

    fn size(&mut self) -> rusqlite::Result<u64> {
        let sql = "SELECT ifnull(max(idx) + 1, 0) FROM leaf";
        self.first(sql, [], |row| row.get(0))
    }

    fn origin(&mut self) -> rusqlite::Result<String> {
        self.first("SELECT origin FROM tree", [], |row| row.get(0))
    }

    fn queued(&mut self, limit: u32) -> rusqlite::Result<Vec<QueuedBatch>> {
        let sql = "SELECT id, chain, body FROM tree_queue ORDER BY id LIMIT ?1";
        self.all(sql, [limit], |row| {
            Ok(QueuedBatch {
                id: row.get(0)?,
                chain: row.get(1)?,
                text: row.get(2)?,
            })
        })
    }

    fn dequeue(&mut self, batches: &[QueuedBatch]) -> rusqlite::Result<()> {
        let sql = "DELETE FROM tree_queue WHERE id = ?1";
        batches
            .iter()
            .try_for_each(|batch| self.run(sql, [batch.id]))
    }

    fn has_leaf(&mut self, chain: i64, n: u64) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM leaf WHERE chain = ?1 AND n = ?2)";
        self.first(sql, params![chain, n], |row| row.get(0))
    }

    fn add_leaf(&mut self, leaf: &Leaf<'_>) -> rusqlite::Result<()> {
        let sql = "INSERT INTO leaf(idx, chain, n, hash, body) VALUES (?1, ?2, ?3, ?4, ?5)";
        let hash = leaf.hash.as_bytes();
        self.run(
            sql,
            params![leaf.index, leaf.chain, leaf.batch.n, hash, leaf.text],
        )
    }

    fn leaf_hashes(&mut self, from: u64, to: u64) -> rusqlite::Result<Vec<Digest>> {
        let sql = "SELECT hash FROM leaf WHERE idx >= ?1 AND idx < ?2 ORDER BY idx";
        self.all(sql, [from, to], |row| digest(row, 0))
    }

    fn leaf_rows(&mut self, from: u64, to: u64) -> rusqlite::Result<Vec<LeafRow>> {
        let sql = "SELECT idx, hash, body FROM leaf WHERE idx >= ?1 AND idx < ?2 ORDER BY idx";
        self.all(sql, [from, to], |row| {
            Ok(LeafRow {
                index: row.get(0)?,
                hash: row.get_ref(1)?.as_bytes().ok().and_then(Digest::from_slice),
                text: row.get(2)?,
            })
        })
    }

    fn tile(&mut self, level: u32, index: u64) -> rusqlite::Result<Option<Tile>> {
        let sql = "SELECT hashes, root FROM tile WHERE level = ?1 AND idx = ?2";
        let read = |row: &Row<'_>| {
            let (hashes, root): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
            Ok(read_tile(&hashes, &root))
        };
        self.first(sql, params![level, index], read).optional()
    }

    fn tile_roots(&mut self, level: u32, from: u64, to: u64) -> rusqlite::Result<Vec<Digest>> {
        let sql = "SELECT root FROM tile WHERE level = ?1 AND idx >= ?2 AND idx < ?3 ORDER BY idx";
        self.all(sql, params![level, from, to], |row| digest(row, 0))
    }

    fn add_tile(&mut self, level: u32, index: u64, tile: &Tile) -> rusqlite::Result<()> {
        let sql = "INSERT INTO tile(level, idx, hashes, root) VALUES (?1, ?2, ?3, ?4)";
        let hashes = join_hashes(&tile.hashes);
        self.run(sql, params![level, index, hashes, tile.root.as_bytes()])
    }

    fn newest_head(&mut self) -> rusqlite::Result<Option<(u64, String)>> {
        let sql = "SELECT size, note FROM tree_head ORDER BY size DESC LIMIT 1";
        self.first(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
    }

    fn heads(&mut self) -> rusqlite::Result<Vec<(u64, String)>> {
        let sql = "SELECT size, note FROM tree_head ORDER BY size";
        self.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn add_head(&mut self, size: u64, note: &str) -> rusqlite::Result<()> {
        self.run(
            "INSERT INTO tree_head(size, note) VALUES (?1, ?2)",
            params![size, note],
        )?;
        let sql = "DELETE FROM tree_head WHERE size <= (SELECT size FROM tree_head ORDER BY size DESC LIMIT 1 OFFSET ?1)";
        self.run(sql, [KEPT_HEADS])
    }
}

fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    let bytes = row.get_ref(column)?.as_bytes().ok();
    Ok(bytes.and_then(Digest::from_slice).unwrap_or(NO_HASH))
}

/// Lets the tree grow, on a connection of its own: what it commits is on the disk before its head is published.
pub(super) struct TreeTask {
    connection: Connection,
    signer: HeadSigner,
    period: Duration,
    turn_at: Option<Instant>,
}

impl TreeTask {
    pub(super) fn open(
        files: &Files,
        options: &Options,
        signer: HeadSigner,
    ) -> Result<Self, StoreError> {
        let connection = files.open_main(false)?;
        let full = connection.pragma_update(None, "synchronous", "FULL");
        full.map_err(StoreError::Write)?;
        Ok(Self {
            connection,
            signer,
            period: options.log_period,
            turn_at: None,
        })
    }

    pub(super) fn is_due(&self) -> bool {
        self.turn_at.is_none_or(|at| at.elapsed() >= self.period)
    }

    /// Takes the queue into the tree, and tells which head is the newest, whichever process signed it.
    pub(super) fn run(&mut self, shared: &Shared) -> Result<(), StoreError> {
        self.turn_at = Some(Instant::now());
        while self.has_queue().map_err(StoreError::Read)? {
            let transaction = immediate(&self.connection)?;
            let has_more = grow(&mut SqliteTree(&transaction), &self.signer);
            let has_more = has_more.map_err(StoreError::Write)?;
            transaction.commit().map_err(StoreError::Write)?;
            if !has_more {
                break;
            }
        }
        let head = SqliteTree(&self.connection).newest_head();
        shared.publish_head(head.map_err(StoreError::Read)?);
        Ok(())
    }

    fn has_queue(&self) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM tree_queue)";
        SqliteTree(&self.connection).first(sql, [], |row| row.get(0))
    }
}

/// A receipt for one record.
pub(super) fn receipt(
    connection: &Connection,
    id: Ulid,
) -> rusqlite::Result<Result<Receipt, NoReceipt>> {
    let snapshot = connection.unchecked_transaction()?;
    let Some(record) = show::show_in(&snapshot, id)? else {
        return Ok(Err(NoReceipt::Unknown));
    };
    let mut tables = SqliteTree(&snapshot);
    let sql = "SELECT chain, CAST(body AS TEXT) FROM activity WHERE seq = ?1";
    let (chain, body): (i64, String) =
        tables.first(sql, [record.seq], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let sql = "SELECT idx, body FROM leaf WHERE chain = ?1 AND n >= ?2 ORDER BY n LIMIT 1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let leaf: Option<(u64, String)> = tables
        .first(sql, params![chain, record.n], read)
        .optional()?;
    let heads = tables.heads()?;
    let head = leaf
        .as_ref()
        .and_then(|(index, _)| best_head(heads, *index));
    let (Some(leaf), Some(head)) = (leaf, head) else {
        return Ok(Err(NoReceipt::NotSigned));
    };
    let hashes = batch_hashes(&tables, (chain, record.seq), &leaf.1)?;
    let place = RecordPlace {
        body,
        prev: record.prev.unwrap_or(NO_HASH),
        n: record.n,
    };
    let receipt = prove(&mut tables, place, leaf, &hashes, head)?;
    Ok(receipt.ok_or(NoReceipt::Changed))
}

/// The hashes of the records of a batch, one of which is at `seq`. There is no index by chain and number, but the records of
/// a batch are near each other.
fn batch_hashes(
    tables: &SqliteTree<'_>,
    (chain, seq): (i64, u64),
    leaf: &str,
) -> rusqlite::Result<Vec<Digest>> {
    let Some(batch) = crate::proof::Batch::from_text(leaf) else {
        return Ok(Vec::new());
    };
    let walk = |sql: &str, end: u64| -> rusqlite::Result<Vec<Digest>> {
        let mut statement = tables.0.prepare_cached(sql)?;
        let mut rows = statement.query(params![chain, seq])?;
        let mut hashes = Vec::new();
        while let Some(row) = rows.next()? {
            hashes.push(digest(row, 1)?);
            if row.get::<_, u64>(0)? == end {
                break;
            }
        }
        Ok(hashes)
    };
    let back = "SELECT n, hash FROM activity WHERE chain = ?1 AND seq <= ?2 ORDER BY seq DESC";
    let mut hashes = walk(back, batch.first)?;
    hashes.reverse();
    let sql = "SELECT n FROM activity WHERE seq = ?1";
    let n: u64 = tables.first(sql, [seq], |row| row.get(0))?;
    if n < batch.n {
        let on = "SELECT n, hash FROM activity WHERE chain = ?1 AND seq > ?2 ORDER BY seq";
        hashes.extend(walk(on, batch.n)?);
    }
    Ok(hashes)
}
