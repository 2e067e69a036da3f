//! Durations as the file writes them: a number and a unit, or several of them in a row, as Go writes durations
//! (`2m0s`). Whole milliseconds, more than none, and no bare numbers, whose unit a reader could not know.

use std::time::Duration;

/// The same form as a pattern, for the schema; [`NOT_ZERO`] belongs to it.
pub(crate) const PATTERN: &str = r"^([0-9]{1,9}((\.[0-9]{1,3})?[hms]|ms))+$";

/// A digit that makes a duration more than none.
pub(crate) const NOT_ZERO: &str = "[1-9]";

/// What to write instead.
pub(crate) const HINT: &str =
    "write a number and a unit, like \"250ms\", \"30s\", \"2m\" or \"1h30m\"";

pub(crate) fn parse(text: &str) -> Option<Duration> {
    let mut millis: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = leading_part(rest)?;
        millis = millis.checked_add(part)?;
        rest = after;
    }
    (millis > 0).then(|| Duration::from_millis(millis))
}

/// The milliseconds of the first number and unit, and what follows them.
fn leading_part(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(end);
    let (size, rest) = if let Some(rest) = rest.strip_prefix("ms") {
        (1, rest)
    } else if let Some(rest) = rest.strip_prefix('s') {
        (1000, rest)
    } else if let Some(rest) = rest.strip_prefix('m') {
        (60_000, rest)
    } else {
        (3_600_000, rest.strip_prefix('h')?)
    };
    let (whole, thousandths) = match number.split_once('.') {
        Some((whole, fraction)) if size > 1 => (whole, Some(fraction)),
        _ => (number, None),
    };
    let thousandths = match thousandths {
        Some(digits) => digits_of(digits, 3)? * 10_u64.pow(3 - u32::try_from(digits.len()).ok()?),
        None => 0,
    };
    Some((
        digits_of(whole, 9)? * size + thousandths * size / 1000,
        rest,
    ))
}

/// A number of one to so many digits.
fn digits_of(text: &str, most: usize) -> Option<u64> {
    let is_number = (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
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
    use std::time::Duration;

    use super::{parse, show};

    #[test]
    fn what_is_read_is_shown() {
        for text in ["250ms", "30s", "2m", "1h", "1500ms", "90s"] {
            assert_eq!(parse(text).map(show).as_deref(), Some(text));
        }
        assert_eq!(parse("120s").map(show).as_deref(), Some("2m"));
    }

    #[test]
    fn durations_of_go_are_read() {
        for (text, millis) in [
            ("2m0s", 120_000),
            ("1h30m", 5_400_000),
            ("1h0m0s", 3_600_000),
            ("1m30.5s", 90_500),
            ("1.5s", 1500),
            ("0.25h", 900_000),
            ("300ms", 300),
            ("0s1ms", 1),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "30",
            "s",
            "0s",
            "0h0m0s",
            "1.5ms",
            "1.0005s",
            ".5s",
            "1.s",
            "2m0",
            "-1s",
            "1 s",
            "1S",
            "1d",
            "100µs",
            "9999999999s",
            "१s",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        let long = "999999999h".repeat(10_000);
        assert_eq!(parse(&long), None);
    }
}
