//! Durations as operators write them in the configuration, in a load plan and in filters of the activity log: `250ms`, `30s`,
//! `1h30m`, `7d`. A number has a unit, because the reader of a bare one could not know it.
//!
//! By hand, because no library reads this and nothing else: `jiff` reads days and weeks only relative to a date, and also
//! reads words such as `hours` and `ago`.

use std::time::Duration;

/// The same form as a regular expression, for JSON Schemas.
pub const PATTERN: &str = r"^\s*(([0-9]+\.?[0-9]*|\.[0-9]+)\s*(us|µs|ms|s|m|h|d|w)\s*)+$";

/// Further digits of a fraction are cut.
const FRACTION_DIGITS: usize = 12;

/// A number and its unit, or several of them in a row. Parts of a microsecond are cut. Nothing if the text is anything
/// else, or longer than half a million years.
///
/// ```
/// use std::time::Duration;
///
/// use countersign_inspect::duration::parse;
///
/// assert_eq!(parse("1m30.5s"), Some(Duration::from_millis(90_500)));
/// assert_eq!(parse("30"), None);
/// ```
pub fn parse(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut micros = None;
    while !rest.is_empty() {
        let (part, after) = leading_part(rest)?;
        micros = Some(part.checked_add(micros.unwrap_or(0))?);
        rest = after.trim_start();
    }
    micros.map(Duration::from_micros)
}

/// The microseconds of the first number and unit, and what follows them.
fn leading_part(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = split_before(text, |c| !c.is_ascii_digit() && c != '.');
    let (unit, rest) = split_before(rest.trim_start(), |c| !c.is_alphabetic());
    let unit: u128 = match unit {
        "us" | "µs" => 1,
        "ms" => 1000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        "w" => 7 * 86_400_000_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let fraction = fraction.get(..FRACTION_DIGITS).unwrap_or(fraction);
    let divisor = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let micros = u128::from(digits(whole)?) * unit + u128::from(digits(fraction)?) * unit / divisor;
    Some((u64::try_from(micros).ok()?, rest))
}

fn split_before(text: &str, is_after: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_after).unwrap_or(text.len()))
}

/// The number that digits stand for; none of them is zero.
fn digits(text: &str) -> Option<u64> {
    if text.is_empty() {
        return Some(0);
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse;

    #[test]
    fn a_number_has_a_unit_and_several_are_added() {
        for (text, micros) in [
            ("300us", 300),
            ("300 µs", 300),
            ("250ms", 250_000),
            ("1.5ms", 1500),
            ("30s", 30_000_000),
            (" .5s ", 500_000),
            ("1.s", 1_000_000),
            ("1.0000009s", 1_000_000),
            ("2m0s", 120_000_000),
            ("1m 30.5s", 90_500_000),
            ("1h30m", 5_400_000_000),
            ("0.25h", 900_000_000),
            ("7d", 604_800_000_000),
            ("1w", 604_800_000_000),
            ("0s", 0),
            ("0s1ms", 1000),
        ] {
            assert_eq!(parse(text), Some(Duration::from_micros(micros)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            " ",
            "30",
            "s",
            ".s",
            "1..5s",
            "1.5.5s",
            "2m0",
            "-1s",
            "+1s",
            "1S",
            "1 day",
            "1e9s",
            "nans",
            "infs",
            "1h,30m",
            "2026-01-31T12:00:00Z",
            "१s",
            "18446744073709551615d",
            "99999999999999999999s",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"999999999h".repeat(10_000)), None);
    }
}
