//! A calendar day, as overrides write it: `2026-12-31`, quoted or as TOML's own date. Days are
//! only compared; there is no arithmetic and no clock.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::tz::Offset;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

/// A day. Later days are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(jiff::civil::Date);

/// A text that names no day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a day such as 2026-12-31")]
pub struct NotADate;

impl Date {
    /// The day, in UTC, of a time in seconds since 1970.
    pub fn from_unix_seconds(seconds: u64) -> Self {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        let moment = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
        Self(Offset::UTC.to_datetime(moment).date())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        let date = text.parse().map(Self).map_err(|_| NotADate)?;
        // `jiff` also reads other forms of ISO 8601.
        let is_plain = date.to_string() == text;
        is_plain.then_some(date).ok_or(NotADate)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(DateVisitor)
    }
}

struct DateVisitor;

impl<'de> Visitor<'de> for DateVisitor {
    type Value = Date;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a day such as 2026-12-31")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Date, E> {
        text.parse().map_err(E::custom)
    }

    /// How a TOML reader hands over its own dates: a map of one text.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Date, A::Error> {
        let entry: Option<(String, String)> = map.next_entry()?;
        let (_, text) = entry.ok_or_else(|| de::Error::custom(NotADate))?;
        self.visit_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_are_days() {
        for good in ["2026-12-31", "2024-02-29", "2000-02-29", "0001-01-01"] {
            assert_eq!(
                good.parse::<Date>().map(|date| date.to_string()),
                Ok(good.to_owned())
            );
        }
        for bad in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-32",
            "26-01-01",
            "2026-1-1",
            "+026-01-01",
            "2026-01-01T00:00:00Z",
            "2026-01-01-",
            "",
        ] {
            assert_eq!(bad.parse::<Date>(), Err(NotADate), "{bad}");
        }
    }

    #[test]
    fn days_are_ordered_and_read_from_the_clock() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        assert!(day("2026-12-31") < day("2027-01-01"));
        assert!(day("2026-02-01") < day("2026-11-01"));
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_798_675_200, "2026-12-31"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(Date::from_unix_seconds(seconds), day(expected), "{seconds}");
        }
    }
}
