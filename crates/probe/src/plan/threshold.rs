//! What must hold at the end of a run: a metric, a comparison, a number. A metric that does not
//! exist is an error when the plan is read, not a threshold that always holds.

use std::fmt;
use std::time::Duration;

use countersign_inspect::{nearest_word, word_enum};
use thiserror::Error;

use super::units::{duration, format_duration};

/// Something that must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// What is measured.
    pub metric: Metric,
    /// As the plan writes it.
    pub name: String,
    /// What it must be.
    pub bound: Bound,
    /// Whether the run ends as soon as it does not hold.
    pub abort_on_fail: bool,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// A time of calls, of one tool or of all.
    Time {
        /// The tool; all if none is given.
        tool: Option<String>,
        /// Which time.
        timing: Timing,
        /// Which figure of it.
        statistic: Statistic,
    },
    /// A share or number of calls, of one tool or of all.
    Calls {
        /// The tool; all if none is given.
        tool: Option<String>,
        /// Which number.
        name: &'static str,
    },
    /// A number about the run as a whole.
    Run(&'static str),
    /// Violations by what is done about them.
    Contract(&'static str),
}

word_enum! {
    /// A time of a call.
    pub enum Timing {
        /// From the intended start to the last byte.
        Response = "response",
        /// From sending to the last byte.
        Service = "service",
        /// From sending to the first event.
        FirstEvent = "first_event",
    }
}

/// A figure of many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// A percentile, in thousandths.
    Percentile(u32),
    /// The mean.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

/// What a metric must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// `<`, `<=`, `>`, `>=` or `==`.
    sign: &'static str,
    /// Seconds for a time, a share for a rate.
    value: f64,
}

/// A threshold that means nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("thresholds.{name:?}: {problem}")]
pub struct ThresholdError {
    /// The key.
    pub name: String,
    /// What is wrong with it or its value.
    pub problem: String,
    /// The word that was probably meant.
    pub nearest: Option<String>,
}

/// Numbers about the calls of a tool, or of all.
const CALLS: [&str; 5] = ["count", "rate", "error_rate", "ok_rate", "tool_error_rate"];
/// Numbers about the run.
const RUN: [&str; 12] = [
    "offered",
    "started",
    "dropped",
    "late",
    "abandoned",
    "dropped_rate",
    "late_rate",
    "achieved_rate",
    "error_rate",
    "ok_rate",
    "denied",
    "unvalidated",
];
const CONTRACT: [&str; 3] = ["fail", "warn", "ignore"];

impl Threshold {
    /// Reads a threshold.
    pub fn read(name: &str, limit: &str, abort_on_fail: bool) -> Result<Self, ThresholdError> {
        let wrong = |problem: &str, nearest: Option<&str>| ThresholdError {
            name: name.to_owned(),
            problem: problem.to_owned(),
            nearest: nearest.map(str::to_owned),
        };
        let metric = metric(name).map_err(|(problem, nearest)| wrong(problem, nearest))?;
        let timed = matches!(metric, Metric::Time { .. });
        let bound = Bound::read(limit, timed).ok_or_else(|| {
            let problem = if timed {
                "expected a comparison with a time, such as \"< 300ms\""
            } else {
                "expected a comparison with a number or a share, such as \"< 0.01\" or \"< 1%\""
            };
            wrong(problem, None)
        })?;
        Ok(Self {
            metric,
            name: name.to_owned(),
            bound,
            abort_on_fail,
        })
    }
}

/// What is wrong with a metric's name, and the name that was probably meant.
type MetricError = (&'static str, Option<&'static str>);

fn metric(name: &str) -> Result<Metric, MetricError> {
    let find = |list: &'static [&'static str], word: &str| {
        let known = list.iter().copied().find(|known| *known == word);
        known.ok_or_else(|| ("no such metric", nearest_word(word, list.iter().copied())))
    };
    if let Some(rest) = name.strip_prefix("contract.") {
        return find(&CONTRACT, rest).map(Metric::Contract);
    }
    let Some(rest) = name.strip_prefix("tools/call") else {
        return find(&RUN, name).map(Metric::Run);
    };
    let (tool, rest) = tagged(rest).ok_or(("expected tools/call{tool=NAME}.METRIC", None))?;
    if let Ok(name) = find(&CALLS, rest) {
        return Ok(Metric::Calls { tool, name });
    }
    let (word, figure) = rest.split_once('.').unwrap_or((rest, "p99"));
    let Ok(timing) = word.parse() else {
        let all = CALLS.into_iter().chain(Timing::WORDS.iter().copied());
        return Err(("no such metric", nearest_word(word, all)));
    };
    let statistic =
        Statistic::read(figure).ok_or(("expected p50, p99, p99.9, mean, min or max", None))?;
    Ok(Metric::Time {
        tool,
        timing,
        statistic,
    })
}

/// The tool in `{tool=NAME}`, and what stands after the dot that follows.
fn tagged(rest: &str) -> Option<(Option<String>, &str)> {
    match rest.strip_prefix('{') {
        None => Some((None, rest.strip_prefix('.')?)),
        Some(inside) => {
            let (tag, rest) = inside.split_once("}.")?;
            let tool = tag.strip_prefix("tool=")?.trim_matches('"');
            Some((Some(tool.to_owned()), rest))
        }
    }
}

impl Statistic {
    fn read(text: &str) -> Option<Self> {
        Some(match text {
            "mean" => Self::Mean,
            "min" => Self::Min,
            "max" => Self::Max,
            "p999" => Self::Percentile(99_900),
            _ => {
                let number: f64 = text.strip_prefix('p')?.parse().ok()?;
                if !(0.0..=100.0).contains(&number) {
                    return None;
                }
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "between 0 and 100,000"
                )]
                let thousandths = (number * 1000.0).round() as u32;
                Self::Percentile(thousandths)
            }
        })
    }
}

impl Bound {
    fn read(text: &str, timed: bool) -> Option<Self> {
        let text = text.trim();
        let (sign, rest) = ["<=", ">=", "==", "<", ">"]
            .into_iter()
            .find_map(|sign| Some((sign, text.strip_prefix(sign)?.trim())))?;
        let value = if timed {
            duration(rest)?.as_secs_f64()
        } else if let Some(percent) = rest.strip_suffix('%') {
            percent.trim().parse::<f64>().ok()? / 100.0
        } else {
            rest.parse().ok()?
        };
        value.is_finite().then_some(Self { sign, value })
    }

    /// Whether a measured value keeps it.
    pub fn holds(&self, measured: f64) -> bool {
        match self.sign {
            "<" => measured < self.value,
            "<=" => measured <= self.value,
            ">" => measured > self.value,
            ">=" => measured >= self.value,
            _ => (measured - self.value).abs() < 1e-12,
        }
    }

    /// As a person would write it.
    pub fn format(&self, metric: &Metric) -> String {
        format!("{} {}", self.sign, metric.format(self.value))
    }
}

impl Metric {
    /// A value of this metric as a person would write it.
    pub fn format(&self, value: f64) -> String {
        match self {
            Self::Time { .. } => {
                format_duration(Duration::try_from_secs_f64(value).unwrap_or_default())
            }
            _ => format!("{value}"),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.bound.format(&self.metric))?;
        if self.abort_on_fail {
            f.write_str(" (ends the run)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read() {
        for (name, limit, shown) in [
            (
                "tools/call{tool=search}.response.p99",
                "< 300ms",
                "tools/call{tool=search}.response.p99 < 300ms",
            ),
            ("dropped_rate", "<0.1%", "dropped_rate < 0.001"),
            ("contract.fail", "== 0", "contract.fail == 0"),
            (
                "tools/call.service.p99.9",
                "<= 1.5s",
                "tools/call.service.p99.9 <= 1.5s",
            ),
            (
                "tools/call.error_rate",
                "< 1%",
                "tools/call.error_rate < 0.01",
            ),
        ] {
            let read = Threshold::read(name, limit, false).expect(name);
            assert_eq!(read.to_string(), shown);
        }
    }

    #[test]
    fn a_metric_that_is_not_there_is_an_error_with_a_hint() {
        for (name, limit, hint) in [
            ("droped_rate", "< 1", Some("dropped_rate")),
            ("contract.fails", "== 0", Some("fail")),
            ("tools/call.respose.p99", "< 1s", Some("response")),
            ("tools/call.response.q99", "< 1s", None),
            ("tools/call{name=x}.response.p99", "< 1s", None),
            ("tools/call.response.p99", "< 300", None),
            ("dropped_rate", "300ms", None),
            ("dropped_rate", "< x", None),
        ] {
            let error = Threshold::read(name, limit, false).expect_err(name);
            assert_eq!(error.nearest.as_deref(), hint, "{name} {limit}");
        }
    }

    #[test]
    fn bounds_compare() {
        for (limit, good, bad) in [
            ("< 2", 1.9, 2.0),
            ("<= 2", 2.0, 2.1),
            ("> 2", 2.1, 2.0),
            (">= 2", 2.0, 1.9),
            ("== 0", 0.0, 1.0),
        ] {
            let bound = Bound::read(limit, false).expect(limit);
            assert!(bound.holds(good) && !bound.holds(bad), "{limit}");
        }
    }
}
