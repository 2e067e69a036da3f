//! Durations as people write them: `250ms`, `30s`, `2m`, `1h`.

use std::fmt;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// Longer than this is a mistake.
const MOST: Duration = Duration::from_hours(7 * 24);

/// A duration in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlanDuration(pub(super) Duration);

/// Reads a duration.
pub(super) fn duration(text: &str) -> Option<Duration> {
    countersign_inspect::duration::parse(text).filter(|duration| *duration <= MOST)
}

/// Writes a duration as a person would.
pub(crate) fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 120.0 && duration.subsec_nanos() == 0 && duration.as_secs().is_multiple_of(60) {
        format!("{}m", duration.as_secs() / 60)
    } else if seconds >= 1.0 {
        format!("{}s", trimmed(seconds))
    } else if seconds >= 0.001 {
        format!("{}ms", trimmed(seconds * 1e3))
    } else {
        format!("{}us", trimmed(seconds * 1e6))
    }
}

fn trimmed(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl<'de> Deserialize<'de> for PlanDuration {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(PlanDurationVisitor)
    }
}

struct PlanDurationVisitor;

impl Visitor<'_> for PlanDurationVisitor {
    type Value = PlanDuration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"250ms\", \"30s\" or \"2m\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PlanDuration, E> {
        duration(text)
            .map(PlanDuration)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_shown() {
        for (text, micros, expected) in [
            ("250ms", 250_000, "250ms"),
            ("1.5s", 1_500_000, "1.5s"),
            ("2m", 120_000_000, "2m"),
            ("1h", 3_600_000_000, "60m"),
            (" 300 us", 300, "300us"),
            ("90s", 90_000_000, "90s"),
        ] {
            let read = duration(text).expect(text);
            assert_eq!(read, Duration::from_micros(micros), "{text}");
            assert_eq!(format_duration(read), expected);
        }
        for text in ["", "5", "s", "-1s", "1 day", "1e99s", "nans", "10d"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
