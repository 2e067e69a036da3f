//! `HourCounts`: how many records each hour has, by type and status. What a chart over time is drawn from.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::record::{Kind, Record, Status};
use crate::time::Timestamp;

const HOUR_MILLIS: u64 = 3_600_000;

/// The records of one hour.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HourCounts {
    /// When the hour begins.
    pub since: Timestamp,
    /// How many of each type, of those there are.
    pub types: BTreeMap<&'static str, u64>,
    /// How many of each status, of those there are.
    pub statuses: BTreeMap<&'static str, u64>,
}

/// The hours that a period touches, while they are filled.
#[derive(Debug)]
pub(crate) struct Hours {
    /// The number of the first one, since 1970.
    pub(crate) first: u64,
    hours: Vec<HourCounts>,
}

impl Hours {
    pub(crate) fn new(period: Duration, now: Timestamp) -> Self {
        let first = now.before(period).as_millis() / HOUR_MILLIS;
        let hours = (first..=now.as_millis() / HOUR_MILLIS).map(|hour| HourCounts {
            since: Timestamp::from_millis(hour * HOUR_MILLIS),
            ..HourCounts::default()
        });
        Self {
            first,
            hours: hours.collect(),
        }
    }

    /// Counts records of an hour. Those of a clock that is ahead are in the last one, as a summary has them too.
    pub(crate) fn add(&mut self, hour: u64, kind: Kind, status: Status, count: u64) {
        let last = self.hours.len().saturating_sub(1);
        let at = hour.checked_sub(self.first);
        let at = at.map(|at| usize::try_from(at).unwrap_or(last).min(last));
        if let Some(hour) = at.and_then(|at| self.hours.get_mut(at)) {
            *hour.types.entry(kind.as_str()).or_default() += count;
            *hour.statuses.entry(status.as_str()).or_default() += count;
        }
    }

    pub(crate) fn add_record(&mut self, record: &Record) {
        let hour = record.timestamp.as_millis() / HOUR_MILLIS;
        self.add(hour, record.kind(), record.status(), 1);
    }

    pub(crate) fn finish(self) -> Vec<HourCounts> {
        self.hours
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_counted_in_their_hour() {
        let now = Timestamp::from_millis(10 * HOUR_MILLIS + 5);
        let mut hours = Hours::new(Duration::from_hours(2), now);
        assert_eq!(hours.first, 8);
        for (hour, count) in [(7, 100), (8, 1), (10, 2), (10, 3), (12, 4)] {
            hours.add(hour, Kind::ToolCall, Status::Success, count);
        }
        let hours = hours.finish();
        let counts = hours
            .iter()
            .map(|hour| hour.types.get("tool_call").copied());
        assert_eq!(counts.collect::<Vec<_>>(), [Some(1), None, Some(9)]);
        assert_eq!(hours[0].since, Timestamp::from_millis(8 * HOUR_MILLIS));
        assert_eq!(hours[2].statuses["success"], 9);
    }
}
