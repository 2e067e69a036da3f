//! A calendar day, as overrides write it: `2026-12-31`, quoted or as TOML's own date. Days are
//! only compared; there is no arithmetic and no clock.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

/// A day. Later days are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// A text that names no day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotADate;

impl fmt::Display for NotADate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a day such as 2026-12-31")
    }
}

impl std::error::Error for NotADate {}

impl Date {
    /// A day, if there is one of that name.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => return None,
        };
        (day >= 1 && day <= days).then_some(Self { year, month, day })
    }

    /// The day, in UTC, of a time in seconds since 1970.
    pub fn from_unix_seconds(seconds: u64) -> Self {
        // Whole eras of 400 years, counted from a year that begins in March, so that the leap
        // day is the last of its year.
        let days = seconds / 86_400 + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        let small = |value: u64| u8::try_from(value).unwrap_or(1);
        Self {
            year: u16::try_from(year).unwrap_or(u16::MAX),
            month: small(month),
            day: small(day),
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        let digits = |text: &str, length: usize| {
            let plain = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| text.parse::<u16>().ok()).flatten()
        };
        let mut parts = text.split('-');
        let mut next = |length| parts.next().and_then(|part| digits(part, length));
        let (year, month, day) = (next(4), next(2), next(2));
        let end = parts.next().is_none();
        match (year, month, day) {
            (Some(year), Some(month), Some(day)) if end => {
                let small = |value: u16| u8::try_from(value).ok();
                let date = small(month).zip(small(day));
                date.and_then(|(month, day)| Self::new(year, month, day))
                    .ok_or(NotADate)
            }
            _ => Err(NotADate),
        }
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
