//! How many calls a caller may make: `limits` in the file.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;

use super::access::CallerPattern;
use super::document::brief;
use super::effective::EffectiveSettings;
use super::keys::Form;
use super::problem::Problem;
use super::reader::Reader;
use super::setting::{Keys as _, Setting, ShownBlock, keys, plain};

keys! {
    /// How many calls of tools each caller may make. Every limit that is for a caller holds for it; each caller is counted by
    /// itself, and each gateway counts by itself. Over a limit, a call is answered with an error result that says when to try
    /// again.
    #[block("limit")]
    pub struct Limit {
        /// The callers it is for, as in [access rules](#an-access-rule).
        #[key(Form::Texts, Reload)]
        callers: Vec<CallerPattern> = Vec::new();
        /// How many calls in which time: `10/s`, `600/m`, `5000/h` or `20000/d`.
        #[key(Form::Text, Reload)]
        calls: Option<Rate> = None;
        /// How many of these calls may come at once; as many as `calls` says if not given.
        #[key(Form::Number(1, 1_000_000), Reload)]
        burst: Option<u32> = None;
        /// How many calls may be under way at a time.
        #[key(Form::Number(1, 1_000_000), Reload)]
        concurrent: Option<u32> = None;
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self::with_defaults()
    }
}

impl PartialEq for Limit {
    fn eq(&self, other: &Self) -> bool {
        self.callers == other.callers
            && self.calls == other.calls
            && self.burst == other.burst
            && self.concurrent == other.concurrent
    }
}

/// So many calls in a second, a minute, an hour or a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    calls: u32,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Second,
    Minute,
    Hour,
    Day,
}

const UNITS: [(Unit, &str, u64); 4] = [
    (Unit::Second, "s", 1),
    (Unit::Minute, "m", 60),
    (Unit::Hour, "h", 3_600),
    (Unit::Day, "d", 86_400),
];

impl Rate {
    /// How many calls.
    pub fn calls(self) -> u32 {
        self.calls
    }

    /// In which time.
    pub fn period(self) -> Duration {
        let unit = UNITS.into_iter().find(|(unit, ..)| *unit == self.unit);
        Duration::from_secs(unit.map_or(1, |(_, _, seconds)| seconds))
    }
}

impl FromStr for Rate {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let parts = text.split_once('/');
        let rate = parts.and_then(|(calls, word)| {
            let digits = calls.bytes().all(|byte| byte.is_ascii_digit());
            let calls: u32 = calls.parse().ok().filter(|calls| digits && *calls > 0)?;
            let (unit, ..) = UNITS.into_iter().find(|(_, name, _)| *name == word)?;
            Some(Self { calls, unit })
        });
        rate.filter(|rate| rate.calls <= 1_000_000).ok_or_else(|| {
            let message = format!("\"{}\" is not a number of calls in a time", brief(text));
            Problem::new(
                message,
                "write it like \"10/s\", \"600/m\", \"5000/h\" or \"20000/d\"",
            )
        })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS.into_iter().find(|(unit, ..)| *unit == self.unit);
        write!(
            f,
            "{}/{}",
            self.calls,
            unit.map_or("s", |(_, name, _)| name)
        )
    }
}

plain! { Rate: read_rate, Rate::to_string; }

fn read_rate(reader: &mut Reader<'_, '_>, node: u32) -> Option<Rate> {
    let rate = reader.text(node).parse();
    reader.usable(node, rate)
}

impl Setting for Vec<Limit> {
    fn read(reader: &mut Reader<'_, '_>, node: u32) -> Option<Self> {
        let elements: Vec<_> = reader.tape().children(node).collect();
        let limits = elements.into_iter();
        Some(limits.map(|node| read_limit(reader, node)).collect())
    }

    fn show<'a>(
        &'a self,
        _: Form,
        effective: &'a EffectiveSettings,
    ) -> Option<impl Serialize + 'a> {
        let limits = self.iter().map(|limit| ShownBlock(limit, effective));
        Some(limits.collect::<Vec<_>>())
    }
}

fn read_limit(reader: &mut Reader<'_, '_>, node: u32) -> Limit {
    let before = reader.problems.len();
    let mut limit = Limit::default();
    limit.read_keys(reader, node);
    if reader.problems.len() > before {
        return limit;
    }
    if limit.callers.is_empty() {
        let hint = "name them in \"callers\"; \"*\" is every caller";
        reader.refuse(node, "a limit needs callers", hint);
    }
    if limit.calls.is_none() && limit.concurrent.is_none() {
        let hint = "write \"calls\": \"600/m\" or \"concurrent\": 16";
        reader.refuse(node, "the limit limits nothing", hint);
    }
    if limit.calls.is_none()
        && let Some(burst) = reader.member(node, "burst")
    {
        let hint = "write \"calls\" too, or \"concurrent\" instead";
        reader.refuse(
            burst,
            "\"burst\" says how many of \"calls\" may come at once, and there is none",
            hint,
        );
    }
    limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_shown_as_it_is_read() {
        for text in ["1/s", "600/m", "5000/h", "20000/d"] {
            let rate: Rate = text.parse().expect(text);
            assert_eq!(rate.to_string(), text);
        }
        let rate: Rate = "600/m".parse().expect("a rate");
        assert_eq!((rate.calls(), rate.period()), (600, Duration::from_mins(1)));
        for bad in [
            "",
            "600",
            "0/m",
            "+5/m",
            "600/min",
            "600/ m",
            "2000000/s",
            "1.5/s",
            "/s",
        ] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
    }
}
