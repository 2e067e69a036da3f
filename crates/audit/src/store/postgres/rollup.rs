//! The roll-ups behind `summary`, and the spans of time behind `since` and `until`.
//!
//! The maintainer counts every record once, in the order of places, up to the horizon; `meta.counted` says how far it is.
//! What a batch of records adds is added up in memory first, so that it writes one row for each distinct key.

use std::collections::BTreeMap;

use super::connection::Connection;
use super::error::PostgresError;
use super::horizon;
use super::value::{signed, small, storable, unsigned};
use crate::record::body::decode;
use crate::record::indexed_fields::IndexedFields;

pub(super) const HOUR_MILLIS: u64 = 3_600_000;
pub(super) const MINUTE_MILLIS: u64 = 60_000;
/// Minutes of `recent` kept: the last hour and some.
const RECENT_MINUTES: i64 = 90;
/// Records counted in one transaction.
pub(super) const BATCH: i64 = 2000;

type Name = Option<String>;

/// What records add up to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    rollup: BTreeMap<(i64, Name, Name, i16, i16), [i64; 4]>,
    rules: BTreeMap<(i64, String), i64>,
    recent: BTreeMap<(i64, String), [i64; 2]>,
    spans: BTreeMap<i64, (i64, i64)>,
    days: BTreeMap<i32, (i64, i64)>,
}

impl Sums {
    pub(super) fn add(&mut self, seq: u64, day: i32, record: &IndexedFields<'_>) {
        let at = record.timestamp.as_millis();
        let (hour, minute) = (signed(at / HOUR_MILLIS), signed(at / MINUTE_MILLIS));
        let name = |text: Option<&str>| text.map(|text| storable(text).into_owned());
        let (validated, rejected) = (
            i64::from(record.validated),
            i64::from(record.is_contract_rejection()),
        );
        let (kind, status) = (small(record.kind.code()), small(record.status.code()));
        let key = (hour, name(record.server), name(record.tool), kind, status);
        let added = [1, validated, rejected, signed(record.control_tokens())];
        let sums = self.rollup.entry(key).or_default();
        sums.iter_mut()
            .zip(added)
            .for_each(|(sum, add)| *sum += add);
        if let Some(server) = name(record.server).filter(|_| validated + rejected > 0) {
            let sums = self.recent.entry((minute, server)).or_default();
            *sums = [sums[0] + validated, sums[1] + rejected];
        }
        let mut rules: Vec<_> = record
            .findings
            .iter()
            .map(|finding| storable(&finding.rule))
            .collect();
        rules.sort_unstable();
        rules.dedup();
        for rule in rules {
            *self.rules.entry((hour, rule.into_owned())).or_default() += 1;
        }
        let seq = signed(seq);
        let spans = [
            self.spans.entry(minute).or_insert((seq, seq)),
            self.days.entry(day).or_insert((seq, seq)),
        ];
        for span in spans {
            *span = (span.0.min(seq), span.1.max(seq));
        }
    }

    fn write(&self, connection: &mut Connection) -> Result<(), PostgresError> {
        let rollup = "INSERT INTO rollup AS r VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            ON CONFLICT (hour, server, tool, kind, status) DO UPDATE SET count = r.count + excluded.count,
            validated = r.validated + excluded.validated, rejected = r.rejected + excluded.rejected, tokens = r.tokens + excluded.tokens";
        for ((hour, server, tool, kind, status), [count, validated, rejected, tokens]) in
            &self.rollup
        {
            connection.execute(
                rollup,
                &[
                    hour, server, tool, kind, status, count, validated, rejected, tokens,
                ],
            )?;
        }
        let rule = "INSERT INTO rollup_rule AS r VALUES ($1, $2, $3) ON CONFLICT (hour, rule) DO UPDATE SET count = r.count + excluded.count";
        for ((hour, name), count) in &self.rules {
            connection.execute(rule, &[hour, name, count])?;
        }
        let span = "INSERT INTO span AS s VALUES ($1, $2, $3) ON CONFLICT (minute) DO UPDATE SET
            low = least(s.low, excluded.low), high = greatest(s.high, excluded.high)";
        for (minute, (low, high)) in &self.spans {
            connection.execute(span, &[minute, low, high])?;
        }
        let day_span =
            "INSERT INTO day_span AS s VALUES ($1, $2, $3) ON CONFLICT (day) DO UPDATE SET
            low = least(s.low, excluded.low), high = greatest(s.high, excluded.high)";
        for (day, (low, high)) in &self.days {
            connection.execute(day_span, &[day, low, high])?;
        }
        let recent = "INSERT INTO recent AS r VALUES ($1, $2, $3, $4) ON CONFLICT (minute, server) DO UPDATE SET
            validated = r.validated + excluded.validated, rejected = r.rejected + excluded.rejected";
        for ((minute, server), [validated, rejected]) in &self.recent {
            connection.execute(recent, &[minute, server, validated, rejected])?;
        }
        let newest = self.recent.keys().map(|(minute, _)| *minute).max();
        if let Some(newest) = newest {
            let old = newest - RECENT_MINUTES;
            connection.execute("DELETE FROM recent WHERE minute < $1", &[&old])?;
        }
        Ok(())
    }
}

/// What `verify` compares: the roll-ups must say what the records add up to.
impl Sums {
    /// Unless `is_complete`, records that the roll-ups count may be gone, so they may say more. Hours before the oldest
    /// one they keep are not asked for.
    pub(super) fn agree(
        &self,
        connection: &mut Connection,
        is_complete: bool,
    ) -> Result<bool, PostgresError> {
        let fits = |stored: &[i64], sums: &[i64]| {
            let pairs = stored.iter().zip(sums);
            if is_complete {
                stored == sums
            } else {
                pairs.into_iter().all(|(stored, sum)| stored >= sum)
            }
        };
        let sql = "SELECT hour, server, tool, kind, status, count, validated, rejected, tokens FROM rollup ORDER BY hour";
        let (mut oldest, mut found, mut agrees) = (None, 0, true);
        connection.for_each(sql, &[], |row| {
            let key: (i64, Name, Name, i16, i16) =
                (row.get(0), row.get(1), row.get(2), row.get(3), row.get(4));
            oldest.get_or_insert(key.0);
            let sums = self.rollup.get(&key);
            found += usize::from(sums.is_some());
            let stored = [row.get(5), row.get(6), row.get(7), row.get(8)];
            agrees = fits(&stored, sums.unwrap_or(&[0; 4]));
            Ok(agrees)
        })?;
        let oldest: i64 = oldest.unwrap_or_default();
        let expected = self.rollup.keys().filter(|key| key.0 >= oldest).count();
        if !agrees || found != expected {
            return Ok(false);
        }
        let mut found = 0;
        connection.for_each("SELECT hour, rule, count FROM rollup_rule", &[], |row| {
            let sum = self.rules.get(&(row.get(0), row.get(1)));
            found += usize::from(sum.is_some());
            agrees = fits(&[row.get(2)], &[sum.copied().unwrap_or_default()]);
            Ok(agrees)
        })?;
        let expected = self.rules.keys().filter(|key| key.0 >= oldest).count();
        Ok(agrees && found == expected)
    }
}

/// Counts up to [`BATCH`] more records. Gives how many there were.
pub(super) fn count(connection: &mut Connection) -> Result<u64, PostgresError> {
    let horizon = signed(horizon::read(connection)?);
    let row = connection.first("SELECT counted FROM meta", &[])?;
    let counted: i64 = row.map_or(0, |row| row.get(0));
    // A batch may be of an earlier day, if the database was away for long: every day is asked.
    let behind = "SELECT seq FROM activity WHERE seq > $1 AND seq < $2 ORDER BY seq LIMIT 1";
    if connection.first(behind, &[&counted, &horizon])?.is_none() {
        return Ok(0);
    }
    connection.transaction("BEGIN", |connection| {
        let row = connection.first("SELECT counted FROM meta FOR UPDATE", &[])?;
        let mut counted: i64 = row.map_or(0, |row| row.get(0));
        let (mut sums, mut records) = (Sums::default(), 0);
        let sql =
            "SELECT seq, body, day FROM activity WHERE seq > $1 AND seq < $2 ORDER BY seq LIMIT $3";
        connection.for_each(sql, &[&counted.clone(), &horizon, &BATCH], |row| {
            counted = row.get(0);
            records += 1;
            add_body(&mut sums, unsigned(counted), row.get(2), row.get(1));
            Ok(true)
        })?;
        sums.write(connection)?;
        connection.execute("UPDATE meta SET counted = $1", &[&counted])?;
        Ok(records)
    })
}

fn add_body(sums: &mut Sums, seq: u64, day: i32, body: &[u8]) {
    if let Some(record) = IndexedFields::plain(body) {
        sums.add(seq, day, &record);
    } else if let Ok(record) = decode(body) {
        sums.add(seq, day, &IndexedFields::from(&record));
    } else {
        tracing::error!(
            seq,
            "a stored record cannot be decoded; run: activity verify"
        );
    }
}
