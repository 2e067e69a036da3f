//! `Appender`: the one connection that appends to one chain.
//!
//! A batch that got no answer is kept and sent again, byte by byte the same, until the database has answered: its records
//! are stored once, whichever attempt was committed. Meanwhile the records of later calls wait in the writer's queue. A
//! chain goes on after a reconnect only if the stored head is the one this process knows. Otherwise (the database was
//! restored, or a standby took over that lacked the last records) a new chain is begun.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

mod attempts;
mod opening;

use super::address::Address;
use super::connection::Connection;
use super::error::PostgresError;
use super::{clock, days, schema};
use crate::chain::{Checkpoint, CheckpointKind, Signer, append_to_log};
use crate::digest::{Digest, NO_HASH};
use crate::id::{Ids, Ulid};
use crate::proof::merkle::Frontier;
use crate::record::body::Body;
use crate::record::{Head, Kind, Outcome, Record, Source};
use crate::store::shared::Shared;
use crate::store::writer::{Append, CommitSummary};
use crate::store::{Durability, Options, StoreError};

/// Records in one statement. A place has 16 bits for a record's number in its transaction.
const MAX_RECORDS: usize = 16_384;
/// Bytes in one statement, give or take a record.
const MAX_BYTES: usize = 8 << 20;

/// Appends to one chain.
pub(super) struct Appender {
    address: Address,
    settings: String,
    deadline: Duration,
    /// `None` after a failure, until the next attempt.
    connection: Option<Connection>,
    signer: Arc<Signer>,
    ids: Ids,
    data_dir: PathBuf,
    version: String,
    sync: bool,
    every: u64,
    period: Duration,
    state: State,
    shared: Arc<Shared>,
}

/// Where the chain stands.
#[derive(Debug, Clone)]
struct State {
    chain: i32,
    chain_id: Ulid,
    /// The number the next record gets.
    next: u64,
    prev: Digest,
    since_checkpoint: u64,
    checkpoint_at: Instant,
    /// The records since the last checkpoint, as a Merkle tree.
    records: Frontier,
    /// The day of the last batch. Days never go back, so that a day holds a stretch of each chain.
    day: i32,
}

impl Appender {
    /// Opens a new chain: `system_start`, naming the heads it finds, and a first checkpoint, in one transaction.
    pub(super) fn open(
        address: Address,
        signer: Arc<Signer>,
        options: &Options,
        shared: Arc<Shared>,
    ) -> Result<Self, StoreError> {
        let ids = Ids::new();
        let state = State {
            chain: 0,
            chain_id: ids.next().id,
            next: 0,
            prev: NO_HASH,
            since_checkpoint: 0,
            checkpoint_at: Instant::now(),
            records: Frontier::default(),
            day: 0,
        };
        let mut appender = Self {
            address,
            settings: settings(options.durability).to_owned(),
            deadline: options.busy_timeout,
            connection: None,
            signer,
            ids,
            data_dir: options.data_dir.clone(),
            version: options.version.clone(),
            sync: options.durability == Durability::Sync,
            every: options.checkpoint_records.max(1),
            period: options.checkpoint_period,
            state,
            shared,
        };
        let mut connection = appender.connect().map_err(StoreError::postgres)?;
        schema::check_writable(&mut connection)?;
        appender.warn_without_standby(&mut connection);
        appender.begin_chain(&mut connection)?;
        appender.connection = Some(connection);
        Ok(appender)
    }

    fn connect(&self) -> Result<Connection, PostgresError> {
        let mut connection = Connection::open(&self.address, &self.settings, self.deadline)?;
        clock::compare(&mut connection, &self.shared)?;
        Ok(connection)
    }

    fn sign(&self, head: Head, lost: u64) -> Checkpoint {
        Checkpoint::sign(&self.signer, CheckpointKind::Head, head, lost)
    }

    /// The store already holds the checkpoint, so a log that cannot be written is loud but stops nothing.
    fn log(&self, checkpoint: Option<&Checkpoint>) {
        let written = checkpoint
            .map(|checkpoint| append_to_log(&self.data_dir, checkpoint, self.sync))
            .transpose();
        if let Err(error) = written {
            tracing::error!(%error, "cannot append to checkpoints.log");
        }
    }

    fn today(&self) -> i32 {
        days::today().max(self.state.day)
    }
}

impl Append for Appender {
    fn append(&mut self, bodies: &[Body], lost: u64) -> Result<CommitSummary, StoreError> {
        let mut summary = CommitSummary {
            last_seq: 0,
            checkpoint: false,
        };
        for part in parts(bodies) {
            let written = self.write(part, lost, false)?;
            summary.checkpoint |= written.checkpoint;
        }
        Ok(summary)
    }

    fn tick(&mut self, lost: u64, is_down: bool) -> Result<bool, StoreError> {
        let due =
            self.state.since_checkpoint > 0 && self.state.checkpoint_at.elapsed() >= self.period;
        if !due && !is_down {
            return Ok(false);
        }
        let mut batch = self.batch(&[], lost, true)?;
        self.attempt_checkpoint(&mut batch, lost)?;
        Ok(true)
    }

    fn stop(&mut self, lost: u64) -> Result<CommitSummary, StoreError> {
        self.shared.is_closing.store(true, Ordering::Relaxed);
        let mut record = Record::new(self.ids.next(), Kind::SystemStop, Outcome::Success);
        record.source = Source::Internal;
        record.reason = Some(format!("{} stopped", self.version));
        let body = Body::encode(&mut record).map_err(StoreError::Encode)?;
        self.write(&[body], lost, true)
    }
}

/// Statements of bounded size.
fn parts(bodies: &[Body]) -> impl Iterator<Item = &[Body]> {
    let mut rest = bodies;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |body: &&Body| {
            let before = bytes;
            bytes += body.as_bytes().len();
            before < MAX_BYTES
        };
        let count = rest.iter().take(MAX_RECORDS).take_while(fits).count();
        let (part, after) = rest.split_at(count);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

fn settings(durability: Durability) -> &'static str {
    match durability {
        Durability::Commit => "SET synchronous_commit = local",
        Durability::Sync => "SET synchronous_commit = on",
        Durability::Async => "SET synchronous_commit = off",
    }
}
