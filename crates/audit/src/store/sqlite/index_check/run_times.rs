//! `RunTimes`: does each run of keys have the times of the ids in it? A reader passes over a run that says otherwise. Part of
//! `verify`.

use std::ops::RangeInclusive;

use rusqlite::Connection;

use crate::id::Ulid;

/// The times of the ids in each run, as the index has them.
pub(super) struct RunTimes {
    /// The last place of each run, in order, and its times.
    runs: Vec<(u64, RangeInclusive<u64>)>,
    /// The first record whose id has a time that its run does not have.
    pub(super) first_wrong: Option<u64>,
}

impl RunTimes {
    pub(super) fn new(connection: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT last, oldest_id, newest_id FROM ix.run ORDER BY last, id";
        let mut statement = connection.prepare(sql)?;
        let runs = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?..=row.get(2)?)))?;
        Ok(Self {
            runs: runs.collect::<Result<_, _>>()?,
            first_wrong: None,
        })
    }

    /// Takes in a record.
    pub(super) fn add(&mut self, seq: u64, id: Ulid) {
        let run = self.runs.partition_point(|(last, _)| *last < seq);
        let time = id.timestamp().as_millis();
        let is_right = matches!(self.runs.get(run), Some((_, times)) if times.contains(&time));
        if !is_right {
            let first = self.first_wrong.get_or_insert(seq);
            *first = seq.min(*first);
        }
    }
}
