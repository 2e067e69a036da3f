//! `Source`: an embedded store, read row by row to be copied.

use rusqlite::{Connection, Row, params};

use super::files::Files;
use super::verify::checkpoint;
use crate::chain::CheckpointKind;
use crate::digest::Digest;
use crate::store::copied::{CopiedChain, CopiedCheckpoint, CopiedRow};
use crate::store::{CapturedTool, Options, StoreError};
use crate::time::Timestamp;

/// Records read at a time, and bytes, give or take a record.
const STEP: u64 = 1000;
const STEP_BYTES: usize = 8 << 20;

/// An embedded store that is only read.
pub(in crate::store) struct Source(Connection);

impl Source {
    pub(in crate::store) fn open(options: &Options) -> Result<Self, StoreError> {
        let files = Files::new(options);
        let guard = files.lock()?;
        let mut connection = files.open_main(false)?;
        super::schema::migrate(&mut connection)?;
        super::replay(&files, &connection, options)?;
        drop(guard);
        Ok(Self(connection))
    }

    pub(in crate::store) fn count(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM activity";
        let count = self.0.query_row(sql, [], |row| row.get(0));
        count.map_err(StoreError::Read)
    }

    pub(in crate::store) fn chains(&self) -> Result<Vec<CopiedChain>, StoreError> {
        let chains = self.all("SELECT id, chain_id FROM chain ORDER BY id", |row| {
            let chain_id: String = row.get(1)?;
            Ok(chain_id.parse().ok().map(|chain_id| CopiedChain {
                number: row.get(0).unwrap_or_default(),
                chain_id,
            }))
        })?;
        Ok(chains.into_iter().flatten().collect())
    }

    pub(in crate::store) fn rows_after(&self, seq: u64) -> Result<Vec<CopiedRow>, StoreError> {
        let read = || -> rusqlite::Result<Vec<CopiedRow>> {
            let sql = "SELECT seq, chain, n, body, hash FROM activity WHERE seq > ?1 ORDER BY seq LIMIT ?2";
            let mut statement = self.0.prepare_cached(sql)?;
            let mut rows = statement.query(params![seq, STEP])?;
            let (mut copied, mut bytes) = (Vec::new(), 0);
            while bytes < STEP_BYTES
                && let Some(row) = rows.next()?
            {
                let hash: [u8; 32] = row.get(4)?;
                let row = CopiedRow {
                    seq: row.get(0)?,
                    chain: row.get(1)?,
                    n: row.get(2)?,
                    body: row.get(3)?,
                    hash: Digest::from_bytes(hash),
                };
                bytes += row.body.len();
                copied.push(row);
            }
            Ok(copied)
        };
        read().map_err(StoreError::Read)
    }

    pub(in crate::store) fn checkpoints(&self) -> Result<Vec<CopiedCheckpoint>, StoreError> {
        self.signed("checkpoint", CheckpointKind::Head)
    }

    pub(in crate::store) fn floors(&self) -> Result<Vec<CopiedCheckpoint>, StoreError> {
        self.signed("floor", CheckpointKind::Floor)
    }

    fn signed(
        &self,
        table: &str,
        kind: CheckpointKind,
    ) -> Result<Vec<CopiedCheckpoint>, StoreError> {
        let sql = format!(
            "SELECT c.chain_id, t.n, t.hash, t.at, t.lost, t.key, t.signature, t.chain FROM {table} t JOIN chain c ON c.id = t.chain"
        );
        let signed = self.all(&sql, |row| {
            let chain: i64 = row.get(7)?;
            Ok(checkpoint(row, kind)?.map(|signed| (chain, signed)))
        })?;
        Ok(signed.into_iter().flatten().collect())
    }

    /// The signed batches of the log, in its order, then those that wait for it, each with its chain.
    pub(in crate::store) fn batches(&self) -> Result<Vec<(i64, String)>, StoreError> {
        let sql = "SELECT chain, body FROM (SELECT 0 AS part, idx AS place, chain, body FROM leaf
                   UNION ALL SELECT 1, id, chain, body FROM tree_queue) ORDER BY part, place";
        self.all(sql, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    pub(in crate::store) fn tools(&self) -> Result<Vec<CapturedTool>, StoreError> {
        let sql = "SELECT server, tool, generation, digest, raw, captured_at FROM catalogue ORDER BY captured_at, generation";
        self.all(sql, |row| {
            Ok(CapturedTool {
                server: row.get(0)?,
                tool: row.get(1)?,
                generation: row.get(2)?,
                digest: row.get(3)?,
                raw: row.get(4)?,
                captured_at: Timestamp::from_millis(row.get(5)?),
            })
        })
    }

    /// The revoked keys, each with its caller.
    pub(in crate::store) fn revocations(&self) -> Result<Vec<(Vec<u8>, String)>, StoreError> {
        let sql = "SELECT key, caller FROM revocation";
        self.all(sql, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn all<T>(
        &self,
        sql: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let all = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.0.prepare(sql)?;
            statement.query_map([], read)?.collect()
        };
        all().map_err(StoreError::Read)
    }
}
