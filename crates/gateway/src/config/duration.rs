//! Durations as the file writes them: a whole number and a unit. No fractions, no sums, no bare
//! numbers: whoever reads `30` cannot know of what.

use std::time::Duration;

/// The same form as a pattern, for the schema.
pub(crate) const PATTERN: &str = "^[1-9][0-9]{0,8}(ms|s|m|h)$";

/// What to write instead.
pub(crate) const HINT: &str = "write a whole number and a unit, like \"250ms\", \"30s\" or \"2m\"";

pub(crate) fn parse(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    if number.len() > 9 || number.starts_with('0') {
        return None;
    }
    let number: u64 = number.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number * 60)),
        "h" => Some(Duration::from_secs(number * 3600)),
        _ => None,
    }
}

/// In the largest unit that keeps it whole.
pub(crate) fn show(duration: Duration) -> String {
    let millis = duration.as_millis();
    let (unit, size) = [("h", 3_600_000), ("m", 60_000), ("s", 1000)]
        .into_iter()
        .find(|(_, size)| millis > 0 && millis.is_multiple_of(*size))
        .unwrap_or(("ms", 1));
    format!("{}{unit}", millis / size)
}

#[cfg(test)]
mod tests {
    use super::{parse, show};

    #[test]
    fn what_is_read_is_shown() {
        for text in ["250ms", "30s", "2m", "1h", "1500ms", "90s"] {
            assert_eq!(parse(text).map(show).as_deref(), Some(text));
        }
        assert_eq!(parse("120s").map(show).as_deref(), Some("2m"));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "30",
            "s",
            "0s",
            "1.5s",
            "-1s",
            "1 s",
            "1S",
            "1d",
            "9999999999s",
            "१s",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
