//! A time as a reader wants it: how long ago, with the exact time behind it.

/// A point in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// As RFC 3339.
    pub exact: String,
    /// How long ago, in words.
    pub ago: String,
}

impl Moment {
    /// A time in milliseconds since 1970, seen at `now`; `exact` is the same time as RFC 3339.
    pub fn new(exact: String, millis: u64, now: u64) -> Self {
        let ago = ago(now.saturating_sub(millis) / 1000);
        Self { exact, ago }
    }
}

fn ago(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..=1 => return "now".to_owned(),
        2..=59 => (seconds, "s"),
        60..=3599 => (seconds / 60, "min"),
        3600..=86_399 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "d"),
    };
    format!("{count} {unit} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_largest_unit_that_fits() {
        let expected = [
            (0, "now"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (7200, "2 h ago"),
            (200_000, "2 d ago"),
        ];
        for (seconds, words) in expected {
            assert_eq!(ago(seconds), words);
        }
        // A clock that was set back does not make a time of the future.
        assert_eq!(Moment::new(String::new(), 5000, 1000).ago, "now");
    }
}
