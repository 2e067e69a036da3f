//! Runs before and after a change: whether it got worse, by more than a limit and by more than
//! chance. Two runs of the same thing differ by tens of percent on a shared machine, so with
//! fewer than five runs of each nothing is ever called a regression.

use serde::{Deserialize, Serialize};

use crate::report::{Figures, Run, Verdict, number, rounded};

/// Runs of each that a conclusion needs.
pub const ENOUGH: usize = 5;
/// How sure it must be that the difference is none of chance.
const CHANCE: f64 = 0.05;

/// How much worse is too much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Growth of a percentile, as a share.
    pub p99: f64,
    /// Growth of the share of unexpected outcomes, in points of 1.
    pub errors: f64,
    /// Loss of completed calls a second, as a share.
    pub rate: f64,
}

impl Default for Limits {
    /// 10 %, half a percentage point, 10 %.
    fn default() -> Self {
        Self {
            p99: 0.1,
            errors: 0.005,
            rate: 0.1,
        }
    }
}

/// One figure before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What was measured.
    pub metric: String,
    /// The median of the runs before.
    pub before: f64,
    /// The median of the runs after.
    pub after: f64,
    /// By how much it got worse: a share, or points for a share.
    pub worse_by: f64,
    /// How likely chance alone makes such a difference, by ranks.
    pub chance: f64,
    /// Whether it is more than the limit, and more than chance.
    pub is_regression: bool,
}

/// The result of comparing runs before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunComparison {
    /// The version of this form.
    pub version: u32,
    /// Runs before and after.
    pub runs: (usize, usize),
    /// The figures.
    pub changes: Vec<Change>,
    /// Remarks for the reader of the report.
    pub notes: Vec<String>,
    /// The exit code and its reasons.
    pub verdict: Verdict,
}

/// What is measured of a run, in the order of [`measure`].
const METRICS: [(&str, Kind); 5] = [
    ("response p50 ms", Kind::Time),
    ("response p99 ms", Kind::Time),
    ("service p99 ms", Kind::Time),
    ("unexpected share", Kind::Share),
    ("calls a second", Kind::Rate),
];

/// Whether more of a figure is worse, and which limit it has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Time,
    Share,
    Rate,
}

fn measure(run: &Run) -> [f64; 5] {
    let Figures {
        response, service, ..
    } = &run.all.figures;
    let (calls, unexpected) = (number(run.all.calls), number(run.all.unexpected));
    [
        response.p50_ms,
        response.p99_ms,
        service.p99_ms,
        unexpected / calls.max(1.0),
        calls / run.measured_s.max(1e-3),
    ]
}

/// Compares runs before with runs after.
pub fn compare(before: &[Run], after: &[Run], limits: &Limits) -> RunComparison {
    let enough = before.len() >= ENOUGH && after.len() >= ENOUGH;
    let mut changes = Vec::new();
    for (number, (metric, kind)) in METRICS.into_iter().enumerate() {
        let values =
            |runs: &[Run]| -> Vec<f64> { runs.iter().map(|run| measure(run)[number]).collect() };
        // The median is shown; the limit is on the tail, on errors and on the rate.
        let gates = enough && metric != "response p50 ms";
        let change = change(metric, &values(before), &values(after), kind, limits);
        changes.push(Change {
            is_regression: gates && change.is_regression,
            ..change
        });
    }
    let mut notes = Vec::new();
    if !enough {
        notes.push(format!(
            "{} runs before and {} after: no conclusion with fewer than {ENOUGH} of each",
            before.len(),
            after.len()
        ));
    }
    let mut runs = before.iter().chain(after);
    if runs.any(|run| run.saturated.is_some()) {
        notes.push("the offered load of some of the runs was not made".to_owned());
    }
    let regressions = changes.iter().filter(|change| change.is_regression);
    let reasons: Vec<String> = regressions
        .map(|one| format!("{} went from {} to {}", one.metric, one.before, one.after))
        .collect();
    RunComparison {
        version: 1,
        runs: (before.len(), after.len()),
        changes,
        notes,
        verdict: Verdict {
            exit: u8::from(!reasons.is_empty()),
            reasons,
        },
    }
}

/// How a figure changed, by its values before and after.
fn change(metric: &str, before: &[f64], after: &[f64], kind: Kind, limits: &Limits) -> Change {
    let (one, other) = (median(before), median(after));
    let (worse_by, limit) = match kind {
        Kind::Time => (share(other - one, one), limits.p99),
        Kind::Share => (other - one, limits.errors),
        Kind::Rate => (share(one - other, one), limits.rate),
    };
    let chance = by_ranks(before, after);
    Change {
        metric: metric.to_owned(),
        before: rounded(one),
        after: rounded(other),
        worse_by: rounded(worse_by),
        chance: rounded(chance),
        is_regression: worse_by > limit && chance < CHANCE,
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole.abs() < 1e-12 {
        0.0
    } else {
        part / whole
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let at = |position: usize| sorted.get(position).copied().unwrap_or_default();
    if sorted.len().is_multiple_of(2) && middle > 0 {
        f64::midpoint(at(middle - 1), at(middle))
    } else {
        at(middle)
    }
}

/// How likely two samples of one thing differ as much: the rank-sum test of Mann and Whitney, two
/// sides, by the normal approximation with a correction for ties.
#[expect(clippy::cast_precision_loss, reason = "no comparison has 2^52 runs")]
fn by_ranks(one: &[f64], other: &[f64]) -> f64 {
    let (count, other_count) = (one.len() as f64, other.len() as f64);
    if one.is_empty() || other.is_empty() {
        return 1.0;
    }
    let mut all: Vec<(f64, bool)> = one.iter().map(|value| (*value, true)).collect();
    all.extend(other.iter().map(|value| (*value, false)));
    all.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (mut ranks, mut ties, mut at) = (0.0, 0.0, 0);
    while let Some((value, _)) = all.get(at) {
        let same = all
            .iter()
            .skip(at)
            .take_while(|(other, _)| other.total_cmp(value).is_eq());
        let tied = same.count();
        let rank = at as f64 + f64::midpoint(tied as f64, 1.0);
        let group = all.iter().skip(at).take(tied);
        ranks += group.filter(|(_, of_one)| *of_one).count() as f64 * rank;
        ties += (tied as f64).powi(3) - tied as f64;
        at += tied;
    }
    let total = count + other_count;
    let u = ranks - count * (count + 1.0) / 2.0;
    let spread = count * other_count / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if spread <= 0.0 {
        return 1.0;
    }
    let away = ((u - count * other_count / 2.0).abs() - 0.5).max(0.0);
    2.0 * tail(away / spread.sqrt())
}

/// The part of a normal distribution beyond `z`, to about seven places (Abramowitz and Stegun
/// 26.2.17).
fn tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let poly = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * poly
}

/// For a person at a terminal.
pub fn terminal(compared: &RunComparison) -> String {
    let mut lines = vec![format!(
        "{:<18}{:>14}{:>14}{:>12}{:>10}",
        "", "before", "after", "worse by", "chance"
    )];
    for change in &compared.changes {
        let mark = if change.is_regression {
            "  regression"
        } else {
            ""
        };
        lines.push(format!(
            "{:<18}{:>14.3}{:>14.3}{:>11.1}%{:>10.3}{mark}",
            change.metric,
            change.before,
            change.after,
            change.worse_by * 100.0,
            change.chance
        ));
    }
    lines.extend(compared.notes.iter().map(|note| format!("note: {note}")));
    lines.push(match compared.verdict.exit {
        0 => "no regression".to_owned(),
        _ => compared.verdict.reasons.join("; "),
    });
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_tell_a_difference_from_chance() {
        let low = [1.0, 2.0, 3.0, 4.0, 5.0];
        let high = [6.0, 7.0, 8.0, 9.0, 10.0];
        // Published exact value for complete separation of five and five: 0.0079.
        assert!(by_ranks(&low, &high) < 0.015);
        assert!(by_ranks(&low, &low) > 0.9);
        assert!(by_ranks(&[1.0, 3.0, 5.0, 7.0, 9.0], &[2.0, 4.0, 6.0, 8.0, 10.0]) > 0.5);
        assert!((by_ranks(&[2.0; 5], &[2.0; 5]) - 1.0).abs() < 1e-9);
        assert!((tail(1.96) - 0.025).abs() < 1e-4);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
    }
}
