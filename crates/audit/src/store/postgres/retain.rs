//! `RetentionTask`: removes whole days that the retention limits no longer keep, oldest first, and signs for them.
//!
//! For each chain in a day a signed floor is committed first; then the day's tables are dropped. The function that drops
//! them asks for the floors, and refuses days that are younger than the database's own floor.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::connection::Connection;
use super::days;
use super::error::PostgresError;
use super::rollup::HOUR_MILLIS;
use super::value::{digest, signed, unsigned};
use crate::chain::{Checkpoint, CheckpointKind, Signer, append_to_log};
use crate::record::Head;
use crate::store::shared::Shared;
use crate::store::stats::Counters;
use crate::store::{Options, Retention};
use crate::time::Timestamp;

/// The roll-up is kept at least this long: the signals compare with a week.
const ROLLUP_HOURS: u64 = 9 * 24;

/// Applies the retention limits.
pub(super) struct RetentionTask {
    limits: Retention,
    signer: Arc<Signer>,
    data_dir: PathBuf,
}

/// A day of the store. Its rows are those of the last ANALYZE, which is near enough: limits round to days.
#[derive(Debug, Clone, Copy)]
struct Day {
    number: i32,
    rows: u64,
    bytes: u64,
}

impl RetentionTask {
    pub(super) fn new(options: &Options, signer: Arc<Signer>) -> Self {
        Self {
            limits: options.retention,
            signer,
            data_dir: options.data_dir.clone(),
        }
    }

    /// Removes what exceeds the limits, and says whether the size limit cannot be kept.
    pub(super) fn run(
        &self,
        connection: &mut Connection,
        shared: &Shared,
    ) -> Result<(), PostgresError> {
        let today = days::today();
        let kept = stored_days(connection)?;
        let (removed, is_over_limit) = choose(&kept, self.limits, today);
        shared.is_over_limit.store(is_over_limit, Ordering::Relaxed);
        for day in removed {
            if shared.stop.load(Ordering::Relaxed) {
                break;
            }
            let count = self.remove(connection, day)?;
            Counters::add(&shared.counters.removed, count);
        }
        self.forget(connection)
    }

    fn remove(&self, connection: &mut Connection, day: i32) -> Result<u64, PostgresError> {
        let sql = "SELECT c.chain_id, a.chain, a.n, a.hash, count, (SELECT coalesce(max(lost), 0) FROM checkpoint WHERE chain = a.chain)
                   FROM (SELECT chain, max(n) AS last, count(*) AS count FROM activity WHERE day = $1 GROUP BY chain) l
                   JOIN activity a ON a.day = $1 AND a.chain = l.chain AND a.n = l.last JOIN chain c ON c.id = a.chain";
        let (mut floors, mut count) = (Vec::new(), 0);
        for row in connection.query(sql, &[&day])? {
            let chain_id = row.get::<_, &str>(0).parse().ok();
            if let (Some(chain_id), Some(hash)) = (chain_id, digest(&row, 3)) {
                let n = unsigned(row.get(2));
                let head = Head { chain_id, n, hash };
                let lost = unsigned(row.get(5));
                let floor = Checkpoint::sign(&self.signer, CheckpointKind::Floor, head, lost);
                floors.push((row.get::<_, i32>(1), floor));
                count += unsigned(row.get(4));
            }
        }
        for (chain, floor) in &floors {
            let sql = "INSERT INTO floor(chain, n, hash, at, lost, key, signature) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
            let hash = &floor.head.hash.as_bytes()[..];
            let (n, at) = (signed(floor.head.n), signed(floor.at.as_millis()));
            let lost = signed(floor.lost);
            connection.execute(
                sql,
                &[chain, &n, &hash, &at, &lost, &floor.key, &floor.signature],
            )?;
            if let Err(error) = append_to_log(&self.data_dir, floor, false) {
                tracing::error!(%error, "cannot append to checkpoints.log");
            }
        }
        connection.query("SELECT drop_day($1)", &[&day])?;
        Ok(count)
    }

    /// What the roll-ups and spans know of records that are gone.
    fn forget(&self, connection: &mut Connection) -> Result<(), PostgresError> {
        let sql = "DELETE FROM span WHERE high < (SELECT seq FROM activity ORDER BY seq LIMIT 1)";
        connection.execute(sql, &[])?;
        let Some(age) = self.limits.max_age else {
            return Ok(());
        };
        let hours = u64::try_from(age.as_millis()).unwrap_or(u64::MAX) / HOUR_MILLIS;
        let hours = hours.max(ROLLUP_HOURS);
        let oldest = (Timestamp::now().as_millis() / HOUR_MILLIS).saturating_sub(hours);
        for table in ["rollup", "rollup_rule"] {
            let sql = format!("DELETE FROM {table} WHERE hour < $1");
            connection.execute(&sql, &[&signed(oldest)])?;
        }
        Ok(())
    }
}

/// The days there are, oldest first.
fn stored_days(connection: &mut Connection) -> Result<Vec<Day>, PostgresError> {
    let sql = "SELECT to_date(right(c.relname, 8), 'YYYYMMDD') - date '1970-01-01', greatest(c.reltuples, 0)::bigint,
                   pg_total_relation_size(c.oid) + coalesce(pg_total_relation_size(to_regclass('found_' || right(c.relname, 8))), 0)
               FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'activity'::regclass ORDER BY 1";
    let rows = connection.query(sql, &[])?;
    Ok(rows
        .iter()
        .map(|row| Day {
            number: row.get(0),
            rows: unsigned(row.get(1)),
            bytes: unsigned(row.get(2)),
        })
        .collect())
}

/// Which days go, oldest first, and whether the rest is still too large. Today and yesterday stay in any case: batches
/// that wait for the database may still be written to them.
fn choose(days: &[Day], limits: Retention, today: i32) -> (Vec<i32>, bool) {
    let whole_days = |period: std::time::Duration| {
        let days = period.as_secs().div_ceil(86_400);
        i32::try_from(days).unwrap_or(i32::MAX)
    };
    let youngest = today.saturating_sub(whole_days(limits.floor).max(1));
    let (mut rows, mut bytes) = days.iter().fold((0, 0), |(rows, bytes), day| {
        (rows + day.rows, bytes + day.bytes)
    });
    let mut removed = Vec::new();
    for day in days.iter().take_while(|day| day.number < youngest) {
        let is_old = limits
            .max_age
            .is_some_and(|age| day.number < today.saturating_sub(whole_days(age)));
        let exceeds = |limit: Option<u64>, used: u64| limit.is_some_and(|most| used > most);
        if !is_old && !exceeds(limits.max_records, rows) && !exceeds(limits.max_bytes, bytes) {
            break;
        }
        rows -= day.rows;
        bytes -= day.bytes;
        removed.push(day.number);
    }
    // Without a floor nothing keeps a store from being emptied, so its size never stops it.
    let is_over = !limits.floor.is_zero() && limits.max_bytes.is_some_and(|most| bytes > most);
    (removed, is_over)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn days() -> Vec<Day> {
        let day = |number| Day {
            number,
            rows: 100,
            bytes: 1000,
        };
        (90..=107).map(day).collect()
    }

    fn limits(age: u32, records: u64, bytes: u64, floor: u32) -> Retention {
        Retention {
            max_age: (age > 0).then(|| DAY * age),
            max_records: (records > 0).then_some(records),
            max_bytes: (bytes > 0).then_some(bytes),
            floor: DAY * floor,
        }
    }

    #[test]
    fn whole_days_go_oldest_first_and_never_the_last_two() {
        assert_eq!(choose(&days(), limits(0, 0, 0, 1), 100), (vec![], false));
        assert_eq!(
            choose(&days(), limits(7, 0, 0, 1), 100),
            (vec![90, 91, 92], false)
        );
        assert_eq!(
            choose(&days(), limits(0, 1500, 0, 1), 100),
            (vec![90, 91, 92], false)
        );
        assert_eq!(
            choose(&days(), limits(0, 0, 17_500, 1), 100),
            (vec![90], false)
        );
        let all: Vec<i32> = (90..99).collect();
        assert_eq!(choose(&days(), limits(0, 1, 0, 0), 100), (all, false));
    }

    #[test]
    fn a_floor_keeps_days_and_then_the_store_is_over_its_limit() {
        assert_eq!(
            choose(&days(), limits(0, 0, 15_000, 8), 100),
            (vec![90, 91], true)
        );
        assert_eq!(
            choose(&days(), limits(0, 0, 16_000, 8), 100),
            (vec![90, 91], false)
        );
    }
}
