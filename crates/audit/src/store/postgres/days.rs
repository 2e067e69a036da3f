//! Days: the partitions of a store. A day is a number of days since 1970, UTC.
//!
//! `Days` says which places each of them has, so that a statement need not ask all of them. Records that the maintainer
//! has not counted yet are in one of the last days, with one exception: a batch that waited for the database for more than
//! a day has the day of its first attempt. Its records are found once they are counted, a moment later.

use super::connection::Connection;
use super::error::PostgresError;
use super::value::unsigned;
use crate::time::Timestamp;

const DAY_MILLIS: u64 = 86_400_000;
/// Days that are made before they begin.
const AHEAD: i32 = 7;

/// The places of each day.
#[derive(Debug)]
pub(super) struct Days {
    /// Everything up to this place has been counted.
    pub(super) counted: u64,
    days: Vec<Day>,
}

/// A day and the places that its records may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) number: i32,
    pub(super) low: u64,
    pub(super) high: u64,
}

/// As a step goes back in time, it asks more days at once.
const GROWTH: [usize; 3] = [1, 3, 12];

impl Days {
    pub(super) fn read(connection: &mut Connection) -> Result<Self, PostgresError> {
        let sql = "SELECT counted, day, low, high FROM meta LEFT JOIN day_span ON true";
        let rows = connection.query(sql, &[])?;
        let counted = rows.first().map_or(0, |row| unsigned(row.get(0)));
        let spans = rows.iter().filter_map(|row| {
            let number: Option<i32> = row.get(1);
            Some(Day {
                number: number?,
                low: unsigned(row.get(2)),
                high: unsigned(row.get(3)),
            })
        });
        Ok(Self::new(counted, spans.collect(), today()))
    }

    fn new(counted: u64, mut days: Vec<Day>, today: i32) -> Self {
        days.sort_unstable_by_key(|day| day.number);
        let newest = days.last().map_or(today, |day| day.number);
        let first_open = newest.min(today - 1);
        for day in days.iter_mut().filter(|day| day.number >= first_open) {
            day.high = i64::MAX as u64;
        }
        for number in first_open..=today + 1 {
            if !days.iter().any(|known| known.number == number) {
                let low = counted + 1;
                days.push(Day {
                    number,
                    low,
                    high: i64::MAX as u64,
                });
            }
        }
        Self { counted, days }
    }

    /// The days that may hold places of the range, newest first, in steps to be asked one after the other.
    pub(super) fn newest_first(&self, from: u64, before: u64) -> Vec<Vec<Day>> {
        let mut days = self.between(from, before);
        days.sort_unstable_by_key(|day| std::cmp::Reverse((day.high, day.number)));
        let open = days
            .iter()
            .take_while(|day| day.high == i64::MAX as u64)
            .count();
        steps(&days, open)
    }

    /// The days that may hold places of the range, oldest first, in steps to be asked one after the other.
    pub(super) fn oldest_first(&self, from: u64, before: u64) -> Vec<Vec<Day>> {
        let mut days = self.between(from, before);
        days.sort_unstable_by_key(|day| (day.low, day.number));
        steps(&days, 1)
    }

    fn between(&self, from: u64, before: u64) -> Vec<Day> {
        let days = self.days.iter();
        let holds = |day: &&Day| day.low < before && day.high >= from;
        days.filter(holds).copied().collect()
    }
}

fn steps(days: &[Day], first: usize) -> Vec<Vec<Day>> {
    let mut rest = days;
    let mut steps = Vec::new();
    let mut sizes = std::iter::once(first.max(1))
        .chain(GROWTH)
        .chain(std::iter::repeat(32));
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(1).min(rest.len());
        let (step, after) = rest.split_at(size);
        steps.push(step.to_vec());
        rest = after;
    }
    steps
}

/// The numbers of days.
pub(super) fn numbers(days: &[Day]) -> Vec<i32> {
    let mut numbers: Vec<i32> = days.iter().map(|day| day.number).collect();
    numbers.sort_unstable();
    numbers
}

pub(super) fn today() -> i32 {
    of(Timestamp::now())
}

pub(super) fn of(time: Timestamp) -> i32 {
    i32::try_from(time.as_millis() / DAY_MILLIS).unwrap_or(i32::MAX)
}

/// Makes sure a day can be written.
pub(super) fn make(connection: &mut Connection, day: i32) -> Result<(), PostgresError> {
    connection.query("SELECT make_day($1)", &[&day]).map(drop)
}

/// Makes this day and those to come.
pub(super) fn make_ahead(connection: &mut Connection) -> Result<(), PostgresError> {
    let today = today();
    (today..=today + AHEAD).try_for_each(|day| make(connection, day))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: u64 = i64::MAX as u64;

    fn numbers_of(steps: &[Vec<Day>]) -> Vec<Vec<i32>> {
        steps.iter().map(|step| numbers(step)).collect()
    }

    #[test]
    fn the_last_days_are_open_and_the_others_are_asked_where_they_have_places() {
        let day = |number, low, high| Day { number, low, high };
        let stored = vec![
            day(8, 300, 400),
            day(5, 1, 100),
            day(6, 90, 200),
            day(10, 380, 500),
        ];
        let days = Days::new(500, stored, 10);
        assert_eq!(
            numbers_of(&days.newest_first(0, OPEN)),
            [vec![9, 10, 11], vec![8], vec![5, 6]]
        );
        assert_eq!(
            numbers_of(&days.newest_first(0, 350)),
            [vec![8], vec![6], vec![5]]
        );
        assert_eq!(numbers_of(&days.newest_first(501, OPEN)), [vec![9, 10, 11]]);
        assert_eq!(
            numbers_of(&days.oldest_first(0, OPEN)),
            [vec![5], vec![6], vec![8, 9, 10], vec![11]]
        );
        assert_eq!(
            numbers_of(&days.oldest_first(450, OPEN)),
            [vec![10], vec![9], vec![11]]
        );
    }

    #[test]
    fn where_nothing_has_been_counted_the_last_days_are_asked() {
        let days = Days::new(0, Vec::new(), 10);
        assert_eq!(numbers_of(&days.newest_first(0, OPEN)), [vec![9, 10, 11]]);
        // The maintainer stopped long ago: everything since is open.
        let stored = vec![
            Day {
                number: 5,
                low: 1,
                high: 100,
            },
            Day {
                number: 4,
                low: 1,
                high: 9,
            },
        ];
        let days = Days::new(100, stored, 10);
        assert_eq!(
            numbers_of(&days.newest_first(101, OPEN)),
            [(5..=11).collect::<Vec<_>>()]
        );
    }
}
