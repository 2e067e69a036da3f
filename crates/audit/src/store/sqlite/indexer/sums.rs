//! `Sums`: what a batch of records adds to the roll-up, the signals and the spans of time.
//!
//! Added up in memory first, so that a batch writes one row per distinct key instead of one per record. The keys of a batch are
//! few, so finding one by comparing takes less than hashing it.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::Codes;
use crate::record::indexed_fields::IndexedFields;
use crate::store::sqlite::index::{BUCKET_MILLIS, HOUR_MILLIS, MINUTE_MILLIS};
use crate::store::sqlite::transaction::Transaction;

/// Minutes of `recent` kept: the last hour and some.
const RECENT_MINUTES: u64 = 90;

/// What a batch adds up before it is written.
#[derive(Default)]
pub(in crate::store::sqlite) struct Sums {
    rollup: BTreeMap<(u64, i64, i64, i64), [u64; 4]>,
    rules: BTreeMap<(u64, i64, i64), u64>,
    recent: BTreeMap<(u64, i64), [u64; 2]>,
    spans: BTreeMap<u64, (u64, u64)>,
}

fn bump<K: Ord, const N: usize>(map: &mut BTreeMap<K, [u64; N]>, key: K, add: [u64; N]) {
    let sums = map.entry(key).or_insert([0; N]);
    sums.iter_mut().zip(add).for_each(|(sum, add)| *sum += add);
}

impl Sums {
    pub(in crate::store::sqlite) fn add(
        &mut self,
        seq: u64,
        record: &IndexedFields<'_>,
        codes: &Codes,
    ) {
        let at = record.timestamp.as_millis();
        let (kind, status) = (record.kind.code(), record.status.code());
        let (validated, rejected) = (
            u64::from(record.validated),
            u64::from(record.is_contract_rejection()),
        );
        bump(
            &mut self.rollup,
            (at / HOUR_MILLIS, codes.place, kind, status),
            [1, validated, rejected, record.control_tokens()],
        );
        if validated + rejected > 0 {
            bump(
                &mut self.recent,
                (at / MINUTE_MILLIS, codes.server),
                [validated, rejected],
            );
        }
        for rule in &codes.rules {
            *self
                .rules
                .entry((at / HOUR_MILLIS, *rule, codes.place))
                .or_default() += 1;
        }
        let span = self.spans.entry(at / BUCKET_MILLIS).or_insert((seq, seq));
        *span = (span.0.min(seq), span.1.max(seq));
    }

    pub(super) fn write(self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let add = |sql: &str| transaction.prepare_cached(sql);
        let mut rollup = add("INSERT INTO rollup VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET count = count + excluded.count,
             validated = validated + excluded.validated, rejected = rejected + excluded.rejected, tokens = tokens + excluded.tokens")?;
        for ((hour, place, kind, status), [count, validated, rejected, tokens]) in self.rollup {
            rollup.execute(params![
                hour, place, kind, status, count, validated, rejected, tokens
            ])?;
        }
        let mut rules = add(
            "INSERT INTO rollup_rule VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        )?;
        for ((hour, rule, place), count) in self.rules {
            rules.execute(params![hour, rule, place, count])?;
        }
        let mut spans = add(
            "INSERT INTO span VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET
             low = min(low, excluded.low), high = max(high, excluded.high)",
        )?;
        for (bucket, (low, high)) in self.spans {
            spans.execute(params![bucket, low, high])?;
        }
        write_recent(transaction, self.recent)
    }
}

/// What the roll-ups of an index must say of its records. Part of `verify`.
impl Sums {
    /// Do the stored roll-ups say the same? Hours before the oldest one they keep are not asked for. Unless `is_complete`,
    /// records that they count may be gone, so they may say more.
    pub(in crate::store::sqlite) fn agree(
        &self,
        connection: &Connection,
        is_complete: bool,
    ) -> rusqlite::Result<bool> {
        let fits = |stored: &[u64], sums: &[u64]| {
            if is_complete {
                stored == sums
            } else {
                stored.iter().zip(sums).all(|(stored, sum)| stored >= sum)
            }
        };
        let mut statement = connection.prepare(
            "SELECT hour, place, kind, status, count, validated, rejected, tokens FROM ix.rollup ORDER BY hour",
        )?;
        let mut rows = statement.query([])?;
        let (mut oldest, mut found) = (None, 0);
        while let Some(row) = rows.next()? {
            let key = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            oldest.get_or_insert(key.0);
            let sums = self.rollup.get(&key);
            found += usize::from(sums.is_some());
            let stored = [row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?];
            if !fits(&stored, sums.unwrap_or(&[0; 4])) {
                return Ok(false);
            }
        }
        let oldest: u64 = oldest.unwrap_or_default();
        if found != self.rollup.range((oldest, i64::MIN, 0, 0)..).count() {
            return Ok(false);
        }
        let mut statement =
            connection.prepare("SELECT hour, rule, place, count FROM ix.rollup_rule")?;
        let mut rows = statement.query([])?;
        let mut found = 0;
        while let Some(row) = rows.next()? {
            let sum = self.rules.get(&(row.get(0)?, row.get(1)?, row.get(2)?));
            found += usize::from(sum.is_some());
            if !fits(&[row.get(3)?], &[sum.copied().unwrap_or_default()]) {
                return Ok(false);
            }
        }
        Ok(found == self.rules.range((oldest, i64::MIN, 0)..).count())
    }
}

fn write_recent(
    transaction: &Transaction<'_>,
    recent: BTreeMap<(u64, i64), [u64; 2]>,
) -> rusqlite::Result<()> {
    let Some(newest) = recent.keys().map(|(minute, _)| *minute).max() else {
        return Ok(());
    };
    let sql = "INSERT INTO recent VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET
               validated = validated + excluded.validated, rejected = rejected + excluded.rejected";
    let mut insert = transaction.prepare_cached(sql)?;
    for ((minute, server), [validated, rejected]) in recent {
        insert.execute(params![minute, server, validated, rejected])?;
    }
    transaction
        .prepare_cached("DELETE FROM recent WHERE minute < ?1")?
        .execute([newest.saturating_sub(RECENT_MINUTES)])?;
    Ok(())
}
