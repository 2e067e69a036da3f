//! How a batch gets into the database: it is sent until there is an answer.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::{Appender, State};
use crate::proof::Batch as SignedBatch;
use crate::proof::merkle::Frontier;
use crate::record::Head;
use crate::record::body::Body;
use crate::store::StoreError;
use crate::store::postgres::batch::Batch;
use crate::store::postgres::connection::{Connection, Values};
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::value::signed;
use crate::store::postgres::{days, heads};
use crate::store::writer::CommitSummary;

/// How long to wait between two attempts: from the first to the second value.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));
/// How long a store that is being closed still tries.
const LAST_ATTEMPTS: Duration = Duration::from_secs(5);

impl Appender {
    /// Sends records as the next ones of the chain, until the database has answered.
    pub(super) fn write(
        &mut self,
        bodies: &[Body],
        lost: u64,
        must_sign: bool,
    ) -> Result<CommitSummary, StoreError> {
        let mut batch = self.batch(bodies, lost, must_sign)?;
        let mut backoff = BACKOFF.0;
        let mut closing_since = None;
        loop {
            let error = match self.attempt(&mut batch, lost, must_sign) {
                Ok(()) => return Ok(self.committed(&batch)),
                Err(error) => error,
            };
            if error.is_hopeless() {
                return Err(error);
            }
            self.shared.report_down(&error);
            if self.shared.is_closing.load(Ordering::Relaxed) {
                let since = closing_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= LAST_ATTEMPTS {
                    return Err(error);
                }
            }
            thread::sleep(backoff);
            backoff = (backoff * 2).min(BACKOFF.1);
        }
    }

    pub(super) fn batch(
        &self,
        bodies: &[Body],
        lost: u64,
        must_sign: bool,
    ) -> Result<Batch, StoreError> {
        let State { next, prev, .. } = self.state;
        let mut batch = Batch::new(self.today(), next, prev, bodies)
            .map_err(|source| StoreError::Record { seq: 0, source })?;
        let since = self.state.since_checkpoint + bodies.len() as u64;
        if must_sign || since >= self.every {
            let head = batch.head(self.state.chain_id);
            batch.checkpoint = Some(self.sign(head, lost));
            let mut records = self.state.records.clone();
            batch.extend(&mut records);
            let statement = SignedBatch::sign(&self.signer, head, &records);
            batch.statement = statement.map(|statement| statement.to_text());
        }
        Ok(batch)
    }

    /// One attempt, on a new connection if there is none.
    fn attempt(&mut self, batch: &mut Batch, lost: u64, must_sign: bool) -> Result<(), StoreError> {
        let mut connection = match self.connection.take() {
            Some(connection) if !connection.is_closed() => connection,
            _ => self.reconnect(batch, lost, must_sign)?,
        };
        let sent = self.send(&mut connection, batch);
        if sent.is_ok() {
            self.connection = Some(connection);
        }
        sent.map_err(StoreError::postgres)
    }

    fn send(&self, connection: &mut Connection, batch: &Batch) -> Result<(), PostgresError> {
        let chain = self.state.chain;
        let sent = match batch.send(connection, chain) {
            Err(error) if error.is_missing_day() => {
                days::make(connection, batch.day)?;
                batch.send(connection, chain)
            }
            sent => sent,
        };
        if sent? {
            return Ok(());
        }
        self.find(connection, batch)
    }

    /// Makes sure that what is there already is this batch, stored by an earlier attempt.
    fn find(&self, connection: &mut Connection, batch: &Batch) -> Result<(), PostgresError> {
        let head = batch.head(self.state.chain_id);
        let sql = "SELECT FROM activity WHERE day = $1 AND chain = $2 AND n = $3 AND hash = $4";
        let hash = &head.hash.as_bytes()[..];
        let values: Values<'_> = &[&batch.day, &self.state.chain, &signed(head.n), &hash];
        let row = connection.first(sql, values)?;
        row.map(drop)
            .ok_or(PostgresError::Value("another process writes this chain"))
    }

    /// Connects again. If the stored chain does not end where this process knows it to end, a new chain is begun, and the
    /// batch becomes its first.
    fn reconnect(
        &mut self,
        batch: &mut Batch,
        lost: u64,
        must_sign: bool,
    ) -> Result<Connection, StoreError> {
        let mut connection = self.connect().map_err(StoreError::postgres)?;
        let State {
            chain, chain_id, ..
        } = self.state;
        let stored = heads::of_chain(&mut connection, chain, chain_id);
        let stored = stored.map_err(StoreError::postgres)?;
        let known = Head {
            chain_id,
            n: self.state.next.saturating_sub(1),
            hash: self.state.prev,
        };
        if stored != Some(known) && stored != Some(batch.head(chain_id)) {
            tracing::error!(
                chain = %chain_id,
                known = known.n,
                stored = stored.map(|head| head.n),
                "the database does not hold what this process has written: it was restored, or records were lost; a new chain begins"
            );
            self.begin_chain(&mut connection)?;
            let bodies = std::mem::take(&mut batch.bodies);
            *batch = self.batch(&bodies, lost, must_sign)?;
        }
        Ok(connection)
    }

    fn committed(&mut self, batch: &Batch) -> CommitSummary {
        let state = &mut self.state;
        (state.next, state.prev) = batch.end();
        state.day = batch.day;
        state.since_checkpoint += batch.bodies.len() as u64;
        batch.extend(&mut state.records);
        if batch.checkpoint.is_some() {
            state.since_checkpoint = 0;
            state.records = Frontier::default();
            state.checkpoint_at = Instant::now();
        }
        self.log(batch.checkpoint.as_ref());
        CommitSummary {
            // Followers read up to the horizon, so they are told by the maintenance thread, which knows it.
            last_seq: 0,
            checkpoint: batch.checkpoint.is_some(),
        }
    }

    /// A checkpoint alone. A batch without records is never "there already", so it needs no second look.
    pub(super) fn attempt_checkpoint(
        &mut self,
        batch: &mut Batch,
        lost: u64,
    ) -> Result<(), StoreError> {
        let mut connection = match self.connection.take() {
            Some(connection) if !connection.is_closed() => connection,
            _ => self.reconnect(batch, lost, true)?,
        };
        let sent = batch.send(&mut connection, self.state.chain);
        sent.map_err(StoreError::postgres)?;
        self.connection = Some(connection);
        self.committed(batch);
        Ok(())
    }
}
