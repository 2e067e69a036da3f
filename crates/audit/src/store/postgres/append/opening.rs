//! How a chain begins: `system_start`, naming the heads it finds, and a first checkpoint, in one transaction.

use std::time::Instant;

use super::{Appender, State};
use crate::digest::NO_HASH;
use crate::id::Ulid;
use crate::proof::Batch as SignedBatch;
use crate::proof::merkle::Frontier;
use crate::record::body::Body;
use crate::record::{Opening, Record};
use crate::store::StoreError;
use crate::store::postgres::batch::Batch;
use crate::store::postgres::connection::Connection;
use crate::store::postgres::{days, heads, schema};

impl Appender {
    pub(super) fn warn_without_standby(&self, connection: &mut Connection) {
        let sql = "SELECT current_setting('synchronous_standby_names') = ''";
        let row = connection.first(sql, &[]).ok().flatten();
        if self.sync && row.is_some_and(|row| row.get(0)) {
            tracing::warn!(
                "activity.durability is \"sync\" but the database has no synchronous standby: a record survives no more than with \"commit\""
            );
        }
    }

    /// Chains are begun one after the other, so that each sees those before it.
    pub(super) fn begin_chain(&mut self, connection: &mut Connection) -> Result<(), StoreError> {
        let day = self.today();
        days::make(connection, day).map_err(StoreError::postgres)?;
        let chain_id = self.ids.next().id;
        let (chain, batch) = connection.transaction("BEGIN", |connection| {
            self.write_opening(connection, chain_id, day)
        })?;
        let (next, prev) = batch.end();
        self.state = State {
            chain,
            chain_id,
            next,
            prev,
            since_checkpoint: 0,
            checkpoint_at: Instant::now(),
            records: Frontier::default(),
            day,
        };
        self.log(batch.checkpoint.as_ref());
        Ok(())
    }

    fn write_opening(
        &self,
        connection: &mut Connection,
        chain_id: Ulid,
        day: i32,
    ) -> Result<(i32, Batch), StoreError> {
        let failed = StoreError::postgres;
        connection.query(schema::LOCK, &[]).map_err(failed)?;
        let opening = Opening {
            chain_id,
            previous: heads::last(connection).map_err(failed)?,
            key: self.signer.public().to_string(),
            version: self.version.clone(),
            heads: Some(heads::since_last_named(connection).map_err(failed)?),
            checkpoint_records: Some(self.every),
        };
        // The opening is the only batch of its transaction, so its place is known beforehand.
        let sql = "INSERT INTO chain(chain_id, opened)
                   SELECT $1, (pg_current_xact_id()::text::bigint << 16) + seq_base + 1 FROM meta RETURNING id";
        let row = connection.first(sql, &[&chain_id.to_string()]);
        let row = row.map_err(failed)?;
        let chain = row.map_or(0, |row| row.get(0));
        let body = Body::encode(&mut Record::opening(self.ids.next(), opening))
            .map_err(StoreError::Encode)?;
        let mut batch = Batch::new(day, 0, NO_HASH, &[body])
            .map_err(|source| StoreError::Record { seq: 0, source })?;
        let head = batch.head(chain_id);
        batch.checkpoint = Some(self.sign(head, 0));
        let mut records = Frontier::default();
        batch.extend(&mut records);
        let statement = SignedBatch::sign(&self.signer, head, &records);
        batch.statement = statement.map(|statement| statement.to_text());
        batch.send(connection, chain).map_err(failed)?;
        Ok((chain, batch))
    }
}
