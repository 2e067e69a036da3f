//! `RetentionTask`: removes what the retention limits no longer keep, oldest first, and signs for it.
//!
//! A step removes up to 1,000 records and, in the same transaction, writes a signed floor for each chain they belonged to: the rest
//! stays verifiable from there. Never removes the newest record, nor anything younger than the floor of the settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, params};

use super::catalogue;
use super::index::BUCKET_MILLIS;
use super::indexer::{self, Indexer};
use super::transaction::{Transaction, immediate};
use crate::chain::{Checkpoint, CheckpointKind, Signer, append_to_log};
use crate::digest::Digest;
use crate::record::Head;
use crate::store::shared::Shared;
use crate::store::stats::Counters;
use crate::store::{Options, Retention, StoreError};
use crate::time::Timestamp;

mod forget;

const STEP: u64 = 1000;

/// Applies the retention limits.
pub(super) struct RetentionTask {
    limits: Retention,
    signer: Arc<Signer>,
    data_dir: PathBuf,
    has_warned: AtomicBool,
}

/// Which records the limits remove.
struct Cutoff {
    /// The last place that may go; 0 for none.
    last: u64,
    /// The size limit cannot be kept: the floor keeps what would have to go.
    is_over_limit: bool,
    /// It will be so soon.
    is_near_limit: bool,
}

impl RetentionTask {
    pub(super) fn new(options: &Options, signer: Arc<Signer>) -> Self {
        Self {
            limits: options.retention,
            signer,
            data_dir: options.data_dir.clone(),
            has_warned: AtomicBool::new(false),
        }
    }

    /// Is the store larger than its limit, so that waiting for the next turn would let it grow? The catalogue counts here.
    pub(super) fn is_pressing(&self, indexer: &Indexer) -> bool {
        let used = || Ok(used_bytes(indexer.main())? + used_bytes(indexer.index())?);
        let used: rusqlite::Result<u64> = used();
        // A store that cannot be read is reported by the reader that needs it.
        let limit = self.limits.max_bytes;
        limit.is_some_and(|most| used.is_ok_and(|used| used > most))
    }

    /// Removes what exceeds the limits, and says whether the size limit cannot be kept.
    pub(super) fn run(&self, indexer: &Indexer, shared: &Shared) -> Result<(), StoreError> {
        let (main, index) = (indexer.main(), indexer.index());
        let cut = self
            .cut(main, index, Timestamp::now())
            .map_err(StoreError::Read)?;
        shared
            .is_over_limit
            .store(cut.is_over_limit, Ordering::Relaxed);
        if cut.is_near_limit && !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "the activity store has used four fifths of activity.max_size_mb and nothing in it is older than \
                 activity.retention_floor_days; at the limit no more records are written"
            );
        }
        let mut floors = BTreeMap::new();
        while !shared.stop.load(Ordering::Relaxed)
            && let Some(removed) = self.step(main, cut.last, &mut floors)?
        {
            Counters::add(&shared.counters.removed, removed);
        }
        for floor in floors.values() {
            if let Err(error) = append_to_log(&self.data_dir, floor, false) {
                tracing::error!(%error, "cannot append to checkpoints.log");
            }
        }
        // Whatever an earlier run that was cut short has left goes as well.
        let oldest = indexer::first(main).map_err(StoreError::Read)?;
        forget::up_to(index, oldest.saturating_sub(1), self.limits)
    }

    /// How far the limits reach.
    fn cut(
        &self,
        main: &Connection,
        index: &Connection,
        now: Timestamp,
    ) -> rusqlite::Result<Cutoff> {
        let (oldest, newest) = (indexer::first(main)?, indexer::last(main)?);
        // Only what is indexed has a known time; what is not is new.
        let mark = indexer::mark(index)?;
        let mut wanted = 0;
        if let Some(age) = self.limits.max_age {
            wanted = older_than(index, now.before(age))?.unwrap_or(mark);
        }
        if let Some(most) = self.limits.max_records {
            wanted = wanted.max(newest.saturating_sub(most));
        }
        let mut kept_from = None;
        if !self.limits.floor.is_zero() {
            kept_from = older_than(index, now.before(self.limits.floor))?;
        }
        let allowed = kept_from.unwrap_or(mark);
        let (for_size, is_large) = match self.limits.max_bytes {
            Some(most) => for_size(main, index, most, (oldest, newest))?,
            None => (0, false),
        };
        let wanted = wanted.max(for_size);
        Ok(Cutoff {
            last: wanted.min(allowed).min(mark).min(newest.saturating_sub(1)),
            // What is removed now makes room; what the floor keeps does not.
            is_over_limit: kept_from.is_some_and(|kept| kept < for_size),
            is_near_limit: is_large && kept_from.is_some_and(|kept| kept < oldest),
        })
    }

    /// One transaction. `None` when nothing up to `cut` is left.
    fn step(
        &self,
        main: &Connection,
        cut: u64,
        floors: &mut BTreeMap<i64, Checkpoint>,
    ) -> Result<Option<u64>, StoreError> {
        let oldest = indexer::first(main).map_err(StoreError::Read)?;
        if oldest == 0 || oldest > cut {
            return Ok(None);
        }
        let last = cut.min(oldest.saturating_add(STEP - 1));
        let transaction = immediate(main)?;
        for (chain, head) in heads(&transaction, last).map_err(StoreError::Read)? {
            let lost = lost(&transaction, chain).map_err(StoreError::Read)?;
            let floor = Checkpoint::sign(&self.signer, CheckpointKind::Floor, head, lost);
            write_floor(&transaction, chain, &floor).map_err(StoreError::Write)?;
            floors.insert(chain, floor);
        }
        let removed = transaction
            .execute("DELETE FROM activity WHERE seq <= ?1", [last])
            .map_err(StoreError::Write)?;
        transaction.commit().map_err(StoreError::Write)?;
        Ok(Some(removed as u64))
    }
}

/// The last place before which every record is older than `time`; `None` if no indexed record is as young as that.
fn older_than(index: &Connection, time: Timestamp) -> rusqlite::Result<Option<u64>> {
    let sql = "SELECT min(low) FROM span WHERE bucket >= ?1";
    let young: Option<u64> =
        index.query_row(sql, [time.as_millis() / BUCKET_MILLIS], |row| row.get(0))?;
    Ok(young.map(|low| low.saturating_sub(1)))
}

/// The last place that has to go for the store to take no more than `most`; and whether it takes four fifths of that.
fn for_size(
    main: &Connection,
    index: &Connection,
    most: u64,
    (oldest, newest): (u64, u64),
) -> rusqlite::Result<(u64, bool)> {
    let used = used_bytes(main)? + used_bytes(index)?;
    // The catalogue has a limit of its own: it must not drive out records.
    let used = used.saturating_sub(catalogue::total_bytes(main)?);
    let records = (newest + 1).saturating_sub(oldest).max(1);
    let surplus = used.saturating_sub(most).div_ceil((used / records).max(1));
    let last = if surplus > 0 {
        oldest.saturating_sub(1).saturating_add(surplus)
    } else {
        0
    };
    Ok((last, used > most / 5 * 4))
}

fn used_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let get = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    Ok((get("page_count")?.saturating_sub(get("freelist_count")?)) * get("page_size")?)
}

/// The last record of each chain among those up to `last`.
fn heads(transaction: &Transaction<'_>, last: u64) -> rusqlite::Result<BTreeMap<i64, Head>> {
    let sql = "SELECT a.chain, c.chain_id, a.n, a.hash FROM activity a JOIN chain c ON c.id = a.chain WHERE a.seq <= ?1 ORDER BY a.seq";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query([last])?;
    let mut heads = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (chain_id, hash): (String, [u8; 32]) = (row.get(1)?, row.get(3)?);
        if let Ok(chain_id) = chain_id.parse() {
            heads.insert(
                row.get(0)?,
                Head {
                    chain_id,
                    n: row.get(2)?,
                    hash: Digest::from_bytes(hash),
                },
            );
        }
    }
    Ok(heads)
}

/// What the chain says it lost, carried on in its floor.
fn lost(transaction: &Transaction<'_>, chain: i64) -> rusqlite::Result<u64> {
    let sql = "SELECT max(ifnull((SELECT max(lost) FROM checkpoint WHERE chain = ?1), 0), ifnull((SELECT lost FROM floor WHERE chain = ?1), 0))";
    transaction.query_row(sql, [chain], |row| row.get(0))
}

fn write_floor(
    transaction: &Transaction<'_>,
    chain: i64,
    floor: &Checkpoint,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO floor(chain, n, hash, at, lost, key, signature) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let (head, at) = (&floor.head, floor.at.as_millis());
    transaction.execute(
        sql,
        params![
            chain,
            head.n,
            head.hash.as_bytes(),
            at,
            floor.lost,
            floor.key,
            floor.signature
        ],
    )?;
    transaction.execute(
        "DELETE FROM checkpoint WHERE chain = ?1 AND n <= ?2",
        params![chain, head.n],
    )?;
    // Their hashes stay in complete tiles. The newest leaves stay, because the tree grows on from them.
    transaction.execute(
        "DELETE FROM leaf WHERE chain = ?1 AND n <= ?2 AND idx < (SELECT (max(idx) + 1) / 256 * 256 - 256 FROM leaf)",
        params![chain, head.n],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests;
