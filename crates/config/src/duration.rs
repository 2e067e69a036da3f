//! Durations as settings: more than none, and shown as they could be written.

use std::time::Duration;

pub(crate) use countersign_inspect::duration::PATTERN;

/// A digit that makes a duration more than none; with [`PATTERN`], the form of a setting.
pub(crate) const NOT_ZERO: &str = "[1-9]";

/// What to write instead.
pub(crate) const HINT: &str =
    "write a number and a unit, like \"250ms\", \"30s\", \"2m\" or \"1h30m\"";

pub(crate) fn parse(text: &str) -> Option<Duration> {
    countersign_inspect::duration::parse(text).filter(|duration| !duration.is_zero())
}

/// In the largest unit that keeps it whole.
pub(crate) fn show(duration: Duration) -> String {
    let micros = duration.as_micros();
    let units = [
        ("h", 3_600_000_000),
        ("m", 60_000_000),
        ("s", 1_000_000),
        ("ms", 1000),
    ];
    let fits = |(_, size): &(_, u128)| micros.is_multiple_of(*size);
    let (unit, size) = units.into_iter().find(fits).unwrap_or(("us", 1));
    format!("{}{unit}", micros / size)
}

#[cfg(test)]
mod tests {
    use super::{parse, show};

    #[test]
    fn what_is_read_is_shown() {
        for text in ["250us", "250ms", "30s", "2m", "1h", "1500ms", "90s"] {
            assert_eq!(parse(text).map(show).as_deref(), Some(text));
        }
        assert_eq!(parse("120s").map(show).as_deref(), Some("2m"));
        assert_eq!(parse("1d").map(show).as_deref(), Some("24h"));
        assert_eq!(parse("0h0m0s"), None);
    }
}
