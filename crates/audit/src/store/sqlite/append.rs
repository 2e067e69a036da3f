//! `Appender`: the one connection that appends to one chain. Gives each record its number, its hash and its place.
//!
//! Everything happens in one transaction that takes the write lock first, so that `seq` is the commit order even when several
//! processes share the file. Its state moves only after a commit: a failed transaction leaves the chain where it was.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rusqlite::{CachedStatement, Connection, params};

use super::transaction::{Transaction, immediate};
use super::{Upkeep, heads};
use crate::chain::{Checkpoint, CheckpointKind, Signer, append_to_log};
use crate::digest::{Digest, NO_HASH, chain_hash};
use crate::id::{Ids, Ulid};
use crate::proof::Batch;
use crate::proof::merkle::{Frontier, leaf_hash};
use crate::record::body::Body;
use crate::record::{Head, Kind, Opening, Outcome, Record, Source};
use crate::store::writer::{Append, CommitSummary};
use crate::store::{Durability, Options, StoreError};

/// Appends to one chain.
pub(super) struct Appender {
    connection: Connection,
    signer: Arc<Signer>,
    ids: Ids,
    data_dir: PathBuf,
    version: String,
    sync: bool,
    every: u64,
    period: Duration,
    chain_id: Ulid,
    state: State,
    opened: u64,
    upkeep: Arc<Upkeep>,
}

/// Where the chain stands.
#[derive(Debug, Clone)]
pub(super) struct State {
    chain: i64,
    /// The number the next record gets.
    next: u64,
    prev: Digest,
    since_checkpoint: u64,
    checkpoint_at: Instant,
    /// The records since the last checkpoint, as a Merkle tree.
    records: Frontier,
}

impl State {
    /// A chain that goes on after its record `n`.
    pub(super) fn after(chain: i64, n: u64, hash: Digest) -> Self {
        Self {
            chain,
            next: n + 1,
            prev: hash,
            ..Self::new()
        }
    }

    /// The last record of the chain.
    pub(super) fn head(&self, chain_id: Ulid) -> Head {
        Head {
            chain_id,
            n: self.next.saturating_sub(1),
            hash: self.prev,
        }
    }

    /// Before the first record.
    fn new() -> Self {
        Self {
            chain: 0,
            next: 0,
            prev: NO_HASH,
            since_checkpoint: 0,
            checkpoint_at: Instant::now(),
            records: Frontier::default(),
        }
    }
}

impl Appender {
    /// Opens a new chain: `system_start`, naming the heads it finds, and a first checkpoint, in one transaction: no chain is
    /// ever without a signed beginning.
    pub(super) fn open(
        connection: Connection,
        signer: Arc<Signer>,
        options: &Options,
        upkeep: Arc<Upkeep>,
    ) -> Result<Self, StoreError> {
        let sync = options.durability == Durability::Sync;
        if sync {
            connection
                .pragma_update(None, "synchronous", "FULL")
                .map_err(StoreError::Write)?;
        }
        let ids = Ids::new();
        let mut appender = Self {
            connection,
            signer,
            chain_id: ids.next().id,
            ids,
            data_dir: options.data_dir.clone(),
            version: options.version.clone(),
            sync,
            every: options.checkpoint_records.max(1),
            period: options.checkpoint_period,
            state: State::new(),
            opened: 0,
            upkeep,
        };
        appender.start()?;
        Ok(appender)
    }

    pub(super) fn chain_id(&self) -> Ulid {
        self.chain_id
    }

    /// The place of the chain's first record.
    pub(super) fn opened(&self) -> u64 {
        self.opened
    }

    fn start(&mut self) -> Result<(), StoreError> {
        let transaction = immediate(&self.connection)?;
        let previous = heads::last(&transaction).map_err(StoreError::Read)?;
        let heads = heads::since_last_named(&transaction).map_err(StoreError::Read)?;
        let chain_id = self.chain_id.to_string();
        let chain: i64 = transaction
            .query_row(
                "INSERT INTO chain(chain_id) VALUES (?1) RETURNING id",
                [chain_id],
                |row| row.get(0),
            )
            .map_err(StoreError::Write)?;
        let key = self.signer.public().to_string();
        let opening = Opening {
            chain_id: self.chain_id,
            previous,
            key,
            version: self.version.clone(),
            heads: Some(heads),
            checkpoint_records: Some(self.every),
        };
        let body = Body::encode(&mut Record::opening(self.ids.next(), opening))
            .map_err(StoreError::Encode)?;
        let mut state = State {
            chain,
            ..self.state.clone()
        };
        let seq = insert_all(&transaction, &mut state, [&body]).map_err(StoreError::Write)?;
        heads::note_opening(&transaction, chain, seq).map_err(StoreError::Write)?;
        let checkpoint = self.checkpoint_in(&transaction, &mut state, 0)?;
        transaction.commit().map_err(StoreError::Write)?;
        self.state = state;
        self.opened = seq;
        self.log(&checkpoint);
        Ok(())
    }

    fn checkpoint_in(
        &self,
        transaction: &Transaction<'_>,
        state: &mut State,
        lost: u64,
    ) -> Result<Checkpoint, StoreError> {
        let head = state.head(self.chain_id);
        let checkpoint = Checkpoint::sign(&self.signer, CheckpointKind::Head, head, lost);
        insert_checkpoint(transaction, state.chain, &checkpoint).map_err(StoreError::Write)?;
        self.queue_batch(transaction, state, head)?;
        state.since_checkpoint = 0;
        state.checkpoint_at = Instant::now();
        Ok(checkpoint)
    }

    /// Signs for the records since the last checkpoint, for the tree.
    fn queue_batch(
        &self,
        transaction: &Transaction<'_>,
        state: &mut State,
        head: Head,
    ) -> Result<(), StoreError> {
        let records = std::mem::take(&mut state.records);
        let Some(batch) = Batch::sign(&self.signer, head, &records) else {
            return Ok(());
        };
        let sql = "INSERT INTO tree_queue(chain, body) VALUES (?1, ?2)";
        let queued = transaction.execute(sql, params![state.chain, batch.to_text()]);
        queued.map(drop).map_err(StoreError::Write)
    }

    /// The store already holds the checkpoint, so a log that cannot be written is loud but stops nothing.
    fn log(&self, checkpoint: &Checkpoint) {
        if let Err(error) = append_to_log(&self.data_dir, checkpoint, self.sync) {
            tracing::error!(%error, "cannot append to checkpoints.log");
        }
    }

    /// While the writer pauses, a passive checkpoint reaches the end of the log and the next commit starts it afresh.
    fn shorten_wal(&self) {
        let result = self
            .connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        if let Err(error) = result {
            tracing::warn!(%error, "cannot shorten the write-ahead log");
        }
    }
}

impl Append for Appender {
    fn append(&mut self, bodies: &[Body], lost: u64) -> Result<CommitSummary, StoreError> {
        if self.upkeep.wal_is_large.swap(false, Ordering::Relaxed) {
            self.shorten_wal();
        }
        let transaction = immediate(&self.connection)?;
        let mut state = self.state.clone();
        let last_seq = insert_all(&transaction, &mut state, bodies).map_err(StoreError::Write)?;
        let checkpoint = if state.since_checkpoint >= self.every {
            Some(self.checkpoint_in(&transaction, &mut state, lost)?)
        } else {
            None
        };
        transaction.commit().map_err(StoreError::Write)?;
        self.state = state;
        if let Some(checkpoint) = &checkpoint {
            self.log(checkpoint);
        }
        self.upkeep.wake_if_batch_is_full(last_seq);
        Ok(CommitSummary {
            last_seq,
            checkpoint: checkpoint.is_some(),
        })
    }

    fn tick(&mut self, lost: u64, is_down: bool) -> Result<bool, StoreError> {
        let due =
            self.state.since_checkpoint > 0 && self.state.checkpoint_at.elapsed() >= self.period;
        if !due && !is_down {
            return Ok(false);
        }
        let transaction = immediate(&self.connection)?;
        let mut state = self.state.clone();
        let checkpoint = self.checkpoint_in(&transaction, &mut state, lost)?;
        transaction.commit().map_err(StoreError::Write)?;
        self.state = state;
        self.log(&checkpoint);
        Ok(true)
    }

    fn stop(&mut self, lost: u64) -> Result<CommitSummary, StoreError> {
        let mut record = Record::new(self.ids.next(), Kind::SystemStop, Outcome::Success);
        record.source = Source::Internal;
        record.reason = Some(format!("{} stopped", self.version));
        let body = Body::encode(&mut record).map_err(StoreError::Encode)?;
        let transaction = immediate(&self.connection)?;
        let mut state = self.state.clone();
        let last_seq = insert_all(&transaction, &mut state, [&body]).map_err(StoreError::Write)?;
        let checkpoint = self.checkpoint_in(&transaction, &mut state, lost)?;
        transaction.commit().map_err(StoreError::Write)?;
        self.state = state;
        self.log(&checkpoint);
        Ok(CommitSummary {
            last_seq,
            checkpoint: true,
        })
    }
}

pub(super) fn insert_checkpoint(
    transaction: &Transaction<'_>,
    chain: i64,
    checkpoint: &Checkpoint,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO checkpoint(chain, n, hash, at, lost, key, signature) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let Checkpoint { head, at, lost, .. } = checkpoint;
    let values = params![
        chain,
        head.n,
        head.hash.as_bytes(),
        at.as_millis(),
        lost,
        checkpoint.key,
        checkpoint.signature
    ];
    transaction.execute(sql, values).map(drop)
}

/// Appends records to a chain. Gives the place of the last one.
pub(super) fn insert_all<'b>(
    transaction: &Transaction<'_>,
    state: &mut State,
    bodies: impl IntoIterator<Item = &'b Body>,
) -> rusqlite::Result<u64> {
    let mut seq: u64 = transaction
        .prepare_cached("SELECT ifnull(max(seq), 0) FROM activity")?
        .query_row([], |row| row.get(0))?;
    let mut insert: CachedStatement<'_> = transaction.prepare_cached(
        "INSERT INTO activity(seq, chain, n, body, hash) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for body in bodies {
        seq += 1;
        let hash = chain_hash(&state.prev, body.as_bytes());
        insert.execute(params![
            seq,
            state.chain,
            state.next,
            body.as_bytes(),
            hash.as_bytes()
        ])?;
        state.records.push(leaf_hash(hash.as_bytes()));
        state.prev = hash;
        state.next += 1;
        state.since_checkpoint += 1;
    }
    Ok(seq)
}

#[cfg(test)]
mod tests;
