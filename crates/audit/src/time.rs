//! `Timestamp`: milliseconds since 1970 in UTC, written as RFC 3339. A period is
//! what a person types: `90s`, `15m`, `24h`, `7d`.
//!
//! Refuses local time zones on output and leap-second arithmetic: an audit record has one clock, UTC.

use std::fmt;
use std::io::Write as _;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use jiff::civil::{DateTime, datetime};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// The last millisecond of the year 9999: four-digit years keep the text sortable.
const LAST_MILLIS: u64 = 253_402_300_799_999;

const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

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
        let moment = EPOCH.saturating_add(Duration::from_millis(self.0));
        let mut out = *b"0000-00-00T00:00:00.000Z";
        // Years have four digits, so that the text always fits.
        let written = write!(&mut out[..23], "{moment:.3}");
        debug_assert!(written.is_ok());
        out
    }
}

/// A period such as `250ms`, `30s`, `15m`, `24h`, `7d`.
pub fn parse_period(text: &str) -> Result<Duration, NotATime> {
    countersign_inspect::duration::parse(text).ok_or_else(|| NotATime::new(text))
}

impl FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        parse_rfc3339(text).ok_or_else(|| NotATime::new(text))
    }
}

/// Reads RFC 3339 and nothing else: `jiff` alone would also read other forms of ISO 8601.
fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    if let Some(moment) = parse_written(text) {
        return Some(moment);
    }
    let (moment, rest) = text.split_at_checked(19)?;
    let (fraction, zone) = rest.split_at(rest.find(['Z', 'z', '+', '-'])?);
    if !has_shape(moment, b"0000-00-00T00:00:00") {
        return None;
    }
    let moment: DateTime = moment.parse().ok()?;
    let mut millis = moment.duration_since(EPOCH).as_millis();
    millis += parse_fraction(fraction)? - offset_minutes(zone)? * 60_000;
    let millis = u64::try_from(millis).ok()?;
    (millis <= LAST_MILLIS).then_some(Timestamp(millis))
}

/// The one form that is written here, read without a detour.
fn parse_written(text: &str) -> Option<Timestamp> {
    if !has_shape(text, b"0000-00-00T00:00:00.000Z") {
        return None;
    }
    let digits = |from: usize, to: usize| {
        let digits = text.get(from..to).unwrap_or_default();
        digits
            .bytes()
            .fold(0_i16, |number, digit| number * 10 + i16::from(digit - b'0'))
    };
    let two = |from: usize| i8::try_from(digits(from, from + 2)).unwrap_or(-1);
    let moment = DateTime::new(digits(0, 4), two(5), two(8), two(11), two(14), two(17), 0).ok()?;
    let millis = moment.duration_since(EPOCH).as_millis() + i128::from(digits(20, 23));
    u64::try_from(millis).ok().map(Timestamp)
}

/// Whether a text has digits where `shape` has a zero, and elsewhere the same characters, in either case.
fn has_shape(text: &str, shape: &[u8]) -> bool {
    let fits = |(byte, expected): (u8, &u8)| match expected {
        b'0' => byte.is_ascii_digit(),
        other => byte.eq_ignore_ascii_case(other),
    };
    text.len() == shape.len() && text.bytes().zip(shape).all(fits)
}

/// Milliseconds of `.fraction`; further digits are cut.
fn parse_fraction(text: &str) -> Option<i128> {
    if text.is_empty() {
        return Some(0);
    }
    let digits = text.strip_prefix('.')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let millis = format!("{digits:0<3}");
    is_number.then(|| millis.get(..3)?.parse().ok())?
}

fn offset_minutes(zone: &str) -> Option<i128> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let is_offset = has_shape(zone.get(1..)?, b"00:00") && hours < "24" && minutes < "60";
    let (hours, minutes): (i128, i128) = (hours.parse().ok()?, minutes.parse().ok()?);
    is_offset.then_some(sign * (hours * 60 + minutes))
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

    const DAY_MILLIS: u64 = 86_400_000;

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
            let noon = Timestamp(day * DAY_MILLIS + DAY_MILLIS / 2);
            assert_eq!(noon.to_string().parse(), Ok(noon));
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
            "-1h",
            "99999999999999999999d",
            "18446744073709551615d",
        ] {
            assert!(Timestamp::parse_relative(bad, now).is_err(), "{bad}");
        }
    }
}
