//! What a classifier said about a set, as numbers: rates with the interval their sample size allows, and times.

use std::time::Duration;

use countersign_gateway::classify::{Action, Outcome};
use serde::Serialize;

/// One classifier on one set.
#[derive(Debug, Serialize)]
pub(super) struct Tally {
    pub(super) classifier: String,
    pub(super) set: String,
    /// `attack` or `benign`.
    pub(super) kind: &'static str,
    /// How many texts have a verdict about all of them.
    pub(super) n: usize,
    pub(super) blocked: usize,
    pub(super) flagged: usize,
    /// How many do not.
    pub(super) errors: usize,
    /// Blocked or flagged: detections among attacks, false alarms among the rest.
    pub(super) rate: f64,
    /// Where the rate is with 95 per cent confidence.
    pub(super) interval: [f64; 2],
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
}

impl Tally {
    pub(super) fn from_outcomes(
        classifier: &str,
        set: &str,
        attack: bool,
        outcomes: &[Outcome],
    ) -> Self {
        let judged = |outcome: &&Outcome| outcome.error.is_none();
        let with = |action: Action| {
            let judged = outcomes.iter().filter(judged);
            judged
                .filter(|outcome| outcome.verdict.action == action)
                .count()
        };
        let n = outcomes.iter().filter(judged).count();
        let (blocked, flagged) = (with(Action::Block), with(Action::Flag));
        let mut times: Vec<Duration> = outcomes.iter().map(|outcome| outcome.elapsed).collect();
        times.sort();
        Self {
            classifier: classifier.to_owned(),
            set: set.to_owned(),
            kind: if attack { "attack" } else { "benign" },
            n,
            blocked,
            flagged,
            errors: outcomes.len() - n,
            rate: share(blocked + flagged, n),
            interval: wilson(blocked + flagged, n),
            p50_ms: quantile(&times, 50),
            p99_ms: quantile(&times, 99),
        }
    }

    pub(super) fn row(&self) -> [String; 9] {
        let [low, high] = self.interval.map(|share| share * 100.0);
        let rate = if self.n == 0 {
            "-".to_owned()
        } else {
            format!("{:.1} % ({low:.0}-{high:.0})", self.rate * 100.0)
        };
        [
            self.classifier.clone(),
            self.set.clone(),
            self.kind.to_owned(),
            self.n.to_string(),
            (self.blocked + self.flagged).to_string(),
            rate,
            self.errors.to_string(),
            format!("{:.1}", self.p50_ms),
            format!("{:.1}", self.p99_ms),
        ]
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sets have thousands of texts, not quadrillions"
)]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// The score interval: honest for small sets and for rates near 0 and 1.
#[expect(
    clippy::cast_precision_loss,
    reason = "sets have thousands of texts, not quadrillions"
)]
fn wilson(part: usize, whole: usize) -> [f64; 2] {
    if whole == 0 {
        return [0.0, 1.0];
    }
    let (n, p, z) = (whole as f64, share(part, whole), 1.96);
    let middle = p + z * z / (2.0 * n);
    let spread = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    [(middle - spread) / scale, (middle + spread) / scale].map(|share| share.clamp(0.0, 1.0))
}

fn quantile(times: &[Duration], percent: usize) -> f64 {
    let rank = (times.len() * percent).div_ceil(100).max(1) - 1;
    times
        .get(rank)
        .map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sets_have_wide_intervals() {
        let rounded = |part, whole| wilson(part, whole).map(|share| format!("{share:.2}"));
        assert_eq!(rounded(25, 50), ["0.37", "0.63"]);
        assert_eq!(rounded(0, 50), ["0.00", "0.07"]);
        assert_eq!(rounded(0, 0), ["0.00", "1.00"]);
    }

    #[test]
    fn quantiles_are_times_that_were_measured() {
        let times: Vec<_> = (1..=200).map(Duration::from_millis).collect();
        let of = |times: &[Duration], percent| format!("{:.1}", quantile(times, percent));
        assert_eq!(of(&times, 50), "100.0");
        assert_eq!(of(&times, 99), "198.0");
        assert_eq!(of(&[], 50), "0.0");
    }
}
