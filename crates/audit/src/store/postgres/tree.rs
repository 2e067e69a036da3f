//! The tree of a shared store: its tables, the task that lets it grow, and receipts from it.

use std::time::{Duration, Instant};

use super::connection::{Connection, Values};
use super::error::PostgresError;
use super::read;
use super::value::{digest, signed, unsigned};
use crate::digest::{Digest, NO_HASH};
use crate::id::Ulid;
use crate::proof::{Batch, Receipt};
use crate::store::Options;
use crate::store::error::NoReceipt;
use crate::store::shared::Shared;
use crate::store::tree::{
    HeadSigner, KEPT_HEADS, Leaf, LeafRow, QueuedBatch, RecordPlace, Tile, TreeTables, best_head,
    grow, join_hashes, prove, read_tile,
};

/// Held while the tree grows. One gateway maintains the store, but after an outage two may believe to be that one.
const LOCK: &str = "SELECT pg_advisory_xact_lock(4842107250913203)";

/// The tables of the tree, on a connection that is in a transaction.
pub(super) struct PostgresTree<'c>(pub(super) &'c mut Connection);

impl PostgresTree<'_> {
    fn digests(&mut self, sql: &str, values: Values<'_>) -> Result<Vec<Digest>, PostgresError> {
        let rows = self.0.query(sql, values)?;
        let digests = rows.iter().map(|row| digest(row, 0).unwrap_or(NO_HASH));
        Ok(digests.collect())
    }

    fn heads_by(&mut self, sql: &str) -> Result<Vec<(u64, String)>, PostgresError> {
        let rows = self.0.query(sql, &[])?;
        let heads = rows.iter().map(|row| (unsigned(row.get(0)), row.get(1)));
        Ok(heads.collect())
    }
}

impl TreeTables for PostgresTree<'_> {
    type Error = PostgresError;

    fn size(&mut self) -> Result<u64, PostgresError> {
        let row = self
            .0
            .first("SELECT coalesce(max(idx) + 1, 0) FROM leaf", &[])?;
        Ok(row.map_or(0, |row| unsigned(row.get(0))))
    }

    fn origin(&mut self) -> Result<String, PostgresError> {
        let row = self.0.first("SELECT origin FROM tree", &[])?;
        let row = row.ok_or(PostgresError::Value("the name of the log"))?;
        Ok(row.get(0))
    }

    fn queued(&mut self, limit: u32) -> Result<Vec<QueuedBatch>, PostgresError> {
        let sql = "SELECT id, chain, body FROM tree_queue ORDER BY id LIMIT $1";
        let rows = self.0.query(sql, &[&i64::from(limit)])?;
        let queued = rows.iter().map(|row| QueuedBatch {
            id: row.get(0),
            chain: row.get::<_, i32>(1).into(),
            text: row.get(2),
        });
        Ok(queued.collect())
    }

    fn dequeue(&mut self, batches: &[QueuedBatch]) -> Result<(), PostgresError> {
        let ids: Vec<i64> = batches.iter().map(|batch| batch.id).collect();
        let sql = "DELETE FROM tree_queue WHERE id = ANY($1)";
        self.0.execute(sql, &[&ids]).map(drop)
    }

    fn has_leaf(&mut self, chain: i64, n: u64) -> Result<bool, PostgresError> {
        let sql = "SELECT FROM leaf WHERE chain = $1::bigint AND n = $2";
        let row = self.0.first(sql, &[&chain, &signed(n)])?;
        Ok(row.is_some())
    }

    fn add_leaf(&mut self, leaf: &Leaf<'_>) -> Result<(), PostgresError> {
        let sql = "INSERT INTO leaf(idx, chain, n, hash, body) VALUES ($1, $2, $3, $4, $5)";
        let chain = i32::try_from(leaf.chain).unwrap_or_default();
        let (index, n) = (signed(leaf.index), signed(leaf.batch.n));
        let hash = &leaf.hash.as_bytes()[..];
        let values: Values<'_> = &[&index, &chain, &n, &hash, &leaf.text];
        self.0.execute(sql, values).map(drop)
    }

    fn leaf_hashes(&mut self, from: u64, to: u64) -> Result<Vec<Digest>, PostgresError> {
        let sql = "SELECT hash FROM leaf WHERE idx >= $1 AND idx < $2 ORDER BY idx";
        self.digests(sql, &[&signed(from), &signed(to)])
    }

    fn leaf_rows(&mut self, from: u64, to: u64) -> Result<Vec<LeafRow>, PostgresError> {
        let sql = "SELECT idx, hash, body FROM leaf WHERE idx >= $1 AND idx < $2 ORDER BY idx";
        let rows = self.0.query(sql, &[&signed(from), &signed(to)])?;
        let rows = rows.iter().map(|row| LeafRow {
            index: unsigned(row.get(0)),
            hash: digest(row, 1),
            text: row.get(2),
        });
        Ok(rows.collect())
    }

    fn tile(&mut self, level: u32, index: u64) -> Result<Option<Tile>, PostgresError> {
        let sql = "SELECT hashes, root FROM tile WHERE level = $1::bigint AND idx = $2";
        let row = self.0.first(sql, &[&i64::from(level), &signed(index)])?;
        Ok(row.map(|row| read_tile(row.get(0), row.get(1))))
    }

    fn tile_roots(&mut self, level: u32, from: u64, to: u64) -> Result<Vec<Digest>, PostgresError> {
        let sql = "SELECT root FROM tile WHERE level = $1::bigint AND idx >= $2 AND idx < $3 ORDER BY idx";
        self.digests(sql, &[&i64::from(level), &signed(from), &signed(to)])
    }

    fn add_tile(&mut self, level: u32, index: u64, tile: &Tile) -> Result<(), PostgresError> {
        let sql = "INSERT INTO tile(level, idx, hashes, root) VALUES ($1::bigint, $2, $3, $4)";
        let (hashes, root) = (join_hashes(&tile.hashes), &tile.root.as_bytes()[..]);
        let values: Values<'_> = &[&i64::from(level), &signed(index), &hashes, &root];
        self.0.execute(sql, values).map(drop)
    }

    fn newest_head(&mut self) -> Result<Option<(u64, String)>, PostgresError> {
        let heads = self.heads_by("SELECT size, note FROM tree_head ORDER BY size DESC LIMIT 1")?;
        Ok(heads.into_iter().next())
    }

    fn heads(&mut self) -> Result<Vec<(u64, String)>, PostgresError> {
        self.heads_by("SELECT size, note FROM tree_head ORDER BY size")
    }

    fn add_head(&mut self, size: u64, note: &str) -> Result<(), PostgresError> {
        let sql = "INSERT INTO tree_head(size, note) VALUES ($1, $2)";
        self.0.execute(sql, &[&signed(size), &note])?;
        let sql = "DELETE FROM tree_head WHERE size <= (SELECT size FROM tree_head ORDER BY size DESC OFFSET $1 LIMIT 1)";
        self.0.execute(sql, &[&i64::from(KEPT_HEADS)]).map(drop)
    }
}

/// Lets the tree grow, in the gateway that maintains the store, and tells every gateway of its newest head.
pub(super) struct TreeTask {
    signer: HeadSigner,
    period: Duration,
    turn_at: Option<Instant>,
}

impl TreeTask {
    pub(super) fn new(options: &Options, signer: HeadSigner) -> Self {
        Self {
            signer,
            period: options.log_period,
            turn_at: None,
        }
    }

    pub(super) fn is_due(&self) -> bool {
        self.turn_at.is_none_or(|at| at.elapsed() >= self.period)
    }

    pub(super) fn run(
        &mut self,
        connection: &mut Connection,
        is_maintainer: bool,
        shared: &Shared,
    ) -> Result<(), PostgresError> {
        self.turn_at = Some(Instant::now());
        while is_maintainer
            && connection
                .first("SELECT FROM tree_queue LIMIT 1", &[])?
                .is_some()
        {
            let has_more = connection.transaction("BEGIN", |connection| {
                connection.query(LOCK, &[])?;
                grow(&mut PostgresTree(connection), &self.signer)
            })?;
            if !has_more {
                break;
            }
        }
        let head = PostgresTree(connection).newest_head()?;
        shared.publish_head(head);
        Ok(())
    }
}

/// A receipt for one record.
pub(super) fn receipt(
    connection: &mut Connection,
    id: Ulid,
) -> Result<Result<Receipt, NoReceipt>, PostgresError> {
    connection.transaction(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        |connection| find_receipt(connection, id),
    )
}

fn find_receipt(
    connection: &mut Connection,
    id: Ulid,
) -> Result<Result<Receipt, NoReceipt>, PostgresError> {
    let Some(record) = read::show(connection, id)? else {
        return Ok(Err(NoReceipt::Unknown));
    };
    let n = signed(record.n);
    let sql = "SELECT a.chain, a.body FROM activity a JOIN chain c ON c.id = a.chain WHERE c.chain_id = $1 AND a.n = $2";
    let row = connection.first(sql, &[&record.chain_id.to_string(), &n])?;
    let row = row.ok_or(PostgresError::Value("the record"))?;
    let chain: i32 = row.get(0);
    let body = String::from_utf8_lossy(row.get(1)).into_owned();
    let sql = "SELECT idx, body FROM leaf WHERE chain = $1 AND n >= $2 ORDER BY n LIMIT 1";
    let leaf = connection.first(sql, &[&chain, &n])?;
    let leaf = leaf.map(|row| (unsigned(row.get(0)), row.get::<_, String>(1)));
    let mut tables = PostgresTree(connection);
    let heads = tables.heads()?;
    let head = leaf
        .as_ref()
        .and_then(|(index, _)| best_head(heads, *index));
    let (Some(leaf), Some(head)) = (leaf, head) else {
        return Ok(Err(NoReceipt::NotSigned));
    };
    let hashes = match Batch::from_text(&leaf.1) {
        Some(batch) => {
            let sql =
                "SELECT hash FROM activity WHERE chain = $1 AND n >= $2 AND n <= $3 ORDER BY n";
            tables.digests(sql, &[&chain, &signed(batch.first), &signed(batch.n)])?
        }
        None => Vec::new(),
    };
    let place = RecordPlace {
        body,
        prev: record.prev.unwrap_or(NO_HASH),
        n: record.n,
    };
    let receipt = prove(&mut tables, place, leaf, &hashes, head)?;
    Ok(receipt.ok_or(NoReceipt::Changed))
}
