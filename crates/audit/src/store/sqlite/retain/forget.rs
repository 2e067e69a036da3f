//! What the index forgets when records are removed.

use rusqlite::Connection;

use crate::store::sqlite::index::{HOUR_MILLIS, end_of_epoch, epoch};
use crate::store::sqlite::transaction::immediate;
use crate::store::{Retention, StoreError};
use crate::time::Timestamp;

/// The roll-up is kept at least this long: the signals compare with a week.
const ROLLUP_HOURS: u64 = 9 * 24;

/// Removes what the index knows of records up to `last`, a stretch at a time. A batch or a run goes as a whole; what is left of
/// one whose records are partly gone is passed over by readers.
pub(super) fn up_to(index: &Connection, last: u64, limits: Retention) -> Result<(), StoreError> {
    while let Some(oldest) = index
        .query_row("SELECT min(last) FROM batch", [], |row| {
            row.get::<_, Option<u64>>(0)
        })
        .map_err(StoreError::Read)?
        && oldest <= last
    {
        let to = last.min(end_of_epoch(oldest));
        let transaction = immediate(index)?;
        let delete = || -> rusqlite::Result<()> {
            for sql in [
                "DELETE FROM batch WHERE last <= ?1",
                "DELETE FROM key WHERE run IN (SELECT id FROM run WHERE last <= ?1)",
                "DELETE FROM run WHERE last <= ?1",
                "DELETE FROM span WHERE high <= ?1",
            ] {
                transaction.execute(sql, [to])?;
            }
            let sql = "DELETE FROM posting WHERE epoch <= ?2 AND last <= ?1";
            transaction.execute(sql, [to, epoch(to)])?;
            transaction.execute("DELETE FROM epoch WHERE id < ?1", [epoch(to)])?;
            Ok(())
        };
        delete().map_err(StoreError::Write)?;
        transaction.commit().map_err(StoreError::Write)?;
    }
    let Some(age) = limits.max_age else {
        return Ok(());
    };
    let hours =
        (u64::try_from(age.as_millis()).unwrap_or(u64::MAX) / HOUR_MILLIS).max(ROLLUP_HOURS);
    let oldest_hour = (Timestamp::now().as_millis() / HOUR_MILLIS).saturating_sub(hours);
    for table in ["rollup", "rollup_rule"] {
        index
            .execute(
                &format!("DELETE FROM {table} WHERE hour < ?1"),
                [oldest_hour],
            )
            .map_err(StoreError::Write)?;
    }
    Ok(())
}
