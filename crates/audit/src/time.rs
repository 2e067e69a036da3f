//! `Timestamp`: milliseconds since 1970 in UTC, written as RFC 3339. `Period`: what a person types, `90s`, `15m`, `24h`, `7d`.
//!
//! Refuses local time zones on output and leap-second arithmetic: an audit record has one clock, UTC.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

const DAY_MILLIS: u64 = 86_400_000;
/// The last millisecond of the year 9999: four-digit years keep the text sortable.
const LAST_MILLIS: u64 = 253_402_300_799_999;

/// A moment, to the millisecond, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(u64);

/// The text is neither an RFC 3339 moment nor a period such as `1h`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "not a time: `{given}`; expected RFC 3339 such as 2026-01-31T12:00:00Z, or a period such as 30s, 15m, 1h, 7d"
)]
pub struct NotATime {
    given: String,
}

impl NotATime {
    fn new(given: &str) -> Self {
        Self {
            given: given.chars().take(64).collect(),
        }
    }
}

impl Timestamp {
    /// Milliseconds since the epoch; held to the year 9999.
    pub fn from_millis(millis: u64) -> Self {
        Self(millis.min(LAST_MILLIS))
    }

    /// Milliseconds since the epoch.
    pub fn as_millis(self) -> u64 {
        self.0
    }

    /// The system's clock.
    pub fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Self::from_millis(u64::try_from(since.as_millis()).unwrap_or(LAST_MILLIS))
    }

    /// This moment less `period`, not before the epoch.
    #[must_use]
    pub fn before(self, period: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(u64::try_from(period.as_millis()).unwrap_or(u64::MAX)),
        )
    }

    /// A moment from what a person typed: RFC 3339, or a period counted back from `now`.
    pub fn parse_relative(text: &str, now: Self) -> Result<Self, NotATime> {
        match parse_period(text) {
            Ok(period) => Ok(now.before(period)),
            Err(_) => text.parse(),
        }
    }

    pub(crate) fn text(self) -> [u8; 24] {
        let (days, of_day) = (self.0 / DAY_MILLIS, self.0 % DAY_MILLIS);
        let (year, month, day) = civil(days);
        let (seconds, millis) = (of_day / 1000, of_day % 1000);
        let mut out = *b"0000-00-00T00:00:00.000Z";
        let mut put = |at: usize, width: usize, mut value: u64| {
            for slot in out[at..at + width].iter_mut().rev() {
                *slot = b'0' + u8::try_from(value % 10).unwrap_or(0);
                value /= 10;
            }
        };
        put(0, 4, year);
        put(5, 2, month);
        put(8, 2, day);
        put(11, 2, seconds / 3600);
        put(14, 2, seconds / 60 % 60);
        put(17, 2, seconds % 60);
        put(20, 3, millis);
        out
    }
}

/// A period such as `250ms`, `30s`, `15m`, `24h`, `7d`.
pub fn parse_period(text: &str) -> Result<Duration, NotATime> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| NotATime::new(text))?;
    let unit_millis = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => DAY_MILLIS,
        "w" => 7 * DAY_MILLIS,
        _ => return Err(NotATime::new(text)),
    };
    number
        .checked_mul(unit_millis)
        .map(Duration::from_millis)
        .ok_or_else(|| NotATime::new(text))
}

/// Year, month, day of a day number since 1970-01-01, by 400-year eras that start in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// The inverse of [`civil`]; `None` before 1970.
fn days_of(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = if month <= 2 {
        year.checked_sub(1)?
    } else {
        year
    };
    let (era, year_of_era) = (year / 400, year % 400);
    let march_month = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * march_month + 2) / 5 + day - 1;
    (era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year)
        .checked_sub(719_468)
}

fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        parse_rfc3339(text.as_bytes()).ok_or_else(|| NotATime::new(text))
    }
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let digits = bytes.get(at..at + width)?;
    digits.iter().try_fold(0, |sum, b| {
        b.is_ascii_digit().then(|| sum * 10 + u64::from(b - b'0'))
    })
}

fn parse_rfc3339(bytes: &[u8]) -> Option<Timestamp> {
    let (year, month, day) = (
        number(bytes, 0, 4)?,
        number(bytes, 5, 2)?,
        number(bytes, 8, 2)?,
    );
    let (hour, minute, second) = (
        number(bytes, 11, 2)?,
        number(bytes, 14, 2)?,
        number(bytes, 17, 2)?,
    );
    let separators = [
        (4, b"--"),
        (7, b"--"),
        (10, b"Tt"),
        (13, b"::"),
        (16, b"::"),
    ];
    if separators
        .iter()
        .any(|(at, allowed)| !bytes.get(*at).is_some_and(|b| allowed.contains(b)))
    {
        return None;
    }
    // A leap second is read as the second before it: UTC milliseconds have no 60.
    if !(1..=12).contains(&month)
        || day == 0
        || day > days_in(year, month)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let (millis, rest) = fraction(bytes.get(19..)?)?;
    let offset = offset_minutes(rest)?;
    let of_day = (hour * 3600 + minute * 60 + second.min(59)) * 1000 + millis;
    let local = i128::from(days_of(year, month, day)? * DAY_MILLIS + of_day);
    let utc = u64::try_from(local - i128::from(offset) * 60_000).ok()?;
    (utc <= LAST_MILLIS).then_some(Timestamp(utc))
}

/// Milliseconds of `.fraction` (further digits are cut), and what follows it.
fn fraction(rest: &[u8]) -> Option<(u64, &[u8])> {
    let Some(after) = rest.strip_prefix(b".") else {
        return Some((0, rest));
    };
    let count = after.iter().take_while(|b| b.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let millis = (0..3).fold(0, |sum, i| {
        sum * 10
            + after
                .get(i)
                .filter(|_| i < count)
                .map_or(0, |b| u64::from(b - b'0'))
    });
    Some((millis, after.get(count..)?))
}

fn offset_minutes(zone: &[u8]) -> Option<i64> {
    let sign = match zone.first()? {
        b'Z' | b'z' if zone.len() == 1 => return Some(0),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = (number(zone, 1, 2)?, number(zone, 4, 2)?);
    let fits = zone.len() == 6 && zone.get(3) == Some(&b':') && hours < 24 && minutes < 60;
    fits.then_some(sign * i64::try_from(hours * 60 + minutes).ok()?)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.text()).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .serialize_str(std::str::from_utf8(&self.text()).map_err(serde::ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_reads_rfc3339() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_825_600_000, "2000-02-29T12:00:00.000Z"),
            (1_785_283_200_001, "2026-07-29T00:00:00.001Z"),
            (LAST_MILLIS, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
            assert_eq!(text.parse(), Ok(Timestamp(millis)));
        }
    }

    #[test]
    fn every_day_round_trips() {
        for day in (0..LAST_MILLIS / DAY_MILLIS).step_by(17) {
            let (year, month, date) = civil(day);
            assert_eq!(days_of(year, month, date), Some(day));
        }
    }

    #[test]
    fn reads_offsets_and_fractions() {
        let expected = Ok(Timestamp(951_825_600_120));
        for text in [
            "2000-02-29T12:00:00.12Z",
            "2000-02-29T14:30:00.120999+02:30",
            "2000-02-29t07:00:00.12-05:00",
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_time() {
        for text in [
            "",
            "yesterday",
            "2001-02-29T00:00:00Z",
            "2000-13-01T00:00:00Z",
            "2000-01-01T24:00:00Z",
            "2000-01-01T00:00:00",
            "2000-01-01T00:00:00.Z",
            "2000-01-01 00:00:00Z",
            "2000-01-01T00:00:00+1:00",
            "1969-12-31T23:59:59Z",
            "2000-01-01T00:00:00ZZ",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn periods_count_back_from_now() {
        let now = Timestamp::from_millis(10 * DAY_MILLIS);
        assert_eq!(
            Timestamp::parse_relative("1h", now),
            Ok(Timestamp(10 * DAY_MILLIS - 3_600_000))
        );
        assert_eq!(
            Timestamp::parse_relative("7d", now),
            Ok(Timestamp(3 * DAY_MILLIS))
        );
        assert_eq!(Timestamp::parse_relative("52w", now), Ok(Timestamp(0)));
        assert_eq!(
            Timestamp::parse_relative("1970-01-02T00:00:00Z", now),
            Ok(Timestamp(DAY_MILLIS))
        );
        for bad in [
            "1",
            "h",
            "1.5h",
            "-1h",
            "99999999999999999999d",
            "18446744073709551615d",
        ] {
            assert!(Timestamp::parse_relative(bad, now).is_err(), "{bad}");
        }
    }
}
