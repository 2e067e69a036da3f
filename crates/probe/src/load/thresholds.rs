//! Thresholds held to what was measured so far.

use std::sync::atomic::Ordering;

use hdrhistogram::Histogram;

use super::engine::Engine;
use super::validator::Outcomes;
use crate::plan::{Metric, Statistic, Threshold, Timing};
use crate::policy::CallOutcome;
use crate::report::{Histograms, ThresholdResult, number};

/// Whether a threshold that ends the run does not hold. What has no data yet holds.
pub(super) fn aborts(engine: &Engine) -> bool {
    let ending = engine.plan.thresholds.iter();
    ending.filter(|one| one.abort_on_fail).any(|threshold| {
        measure(engine, &threshold.metric).is_some_and(|measured| !threshold.bound.holds(measured))
    })
}

/// Every threshold and whether it holds in the end. What has no data does not.
pub(super) fn check_thresholds(engine: &Engine) -> Vec<ThresholdResult> {
    let one = |threshold: &Threshold| {
        let measured = measure(engine, &threshold.metric);
        let shown = |value| threshold.metric.format(value);
        ThresholdResult {
            name: threshold.name.clone(),
            bound: threshold.bound.format(&threshold.metric),
            measured: measured.map_or_else(|| "no data".to_owned(), shown),
            holds: measured.is_some_and(|measured| threshold.bound.holds(measured)),
        }
    };
    engine.plan.thresholds.iter().map(one).collect()
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| number(part) / number(whole))
}

/// What a metric is now; nothing if there is no data for it.
fn measure(engine: &Engine, metric: &Metric) -> Option<f64> {
    match metric {
        Metric::Time {
            tool,
            timing,
            statistic,
        } => {
            let all = histograms(engine, tool.as_deref())?;
            let histogram = match timing {
                Timing::Response => &all.response,
                Timing::Service => &all.service,
                Timing::FirstEvent => &all.first_event,
            };
            figure(histogram, *statistic)
        }
        Metric::Calls { tool, name } => {
            let outcomes = outcomes(engine, tool.as_deref())?;
            calls(engine, &outcomes, name)
        }
        Metric::Run(name) => run(engine, name),
        Metric::Contract(name) => {
            let counts = engine.validator.verdicts().violations.counts;
            Some(number(match *name {
                "fail" => counts.fail,
                "warn" => counts.warn,
                _ => counts.ignore,
            }))
        }
    }
}

fn figure(histogram: &Histogram<u64>, statistic: Statistic) -> Option<f64> {
    if histogram.is_empty() {
        return None;
    }
    let micros = match statistic {
        Statistic::Mean => histogram.mean(),
        Statistic::Min => number(histogram.min()),
        Statistic::Max => number(histogram.max()),
        Statistic::Percentile(thousandths) => {
            number(histogram.value_at_quantile(f64::from(thousandths) / 1e5))
        }
    };
    Some(micros / 1e6)
}

fn tool_index(engine: &Engine, tool: &str) -> Option<usize> {
    let tools = &engine.validator.rules().tools;
    tools.iter().position(|name| name == tool)
}

fn histograms(engine: &Engine, tool: Option<&str>) -> Option<Histograms> {
    let figures = engine.figures();
    match tool {
        None => Some(figures.all()),
        Some(tool) => figures.tools.get(tool_index(engine, tool)?).cloned(),
    }
}

fn outcomes(engine: &Engine, tool: Option<&str>) -> Option<Outcomes> {
    let verdicts = engine.validator.verdicts();
    if let Some(tool) = tool {
        return verdicts.tools.get(tool_index(engine, tool)?).cloned();
    }
    Some(Outcomes::sum(&verdicts.tools))
}

fn calls(engine: &Engine, outcomes: &Outcomes, name: &str) -> Option<f64> {
    let total: u64 = outcomes.counts.values().sum();
    match name {
        "count" => Some(number(total)),
        "rate" => Some(per_second(engine, total)),
        "error_rate" => share(outcomes.unexpected, total),
        "ok_rate" => share(outcomes.count(CallOutcome::Success), total),
        _ => share(outcomes.count(CallOutcome::ToolError), total),
    }
}

/// A count per second of the run so far, without its warm-up.
fn per_second(engine: &Engine, count: u64) -> f64 {
    let elapsed = engine.origin().elapsed().min(engine.plan.duration());
    let counted = elapsed.saturating_sub(engine.plan.load.warm_up);
    number(count) / counted.as_secs_f64().max(1e-3)
}

fn run(engine: &Engine, name: &str) -> Option<f64> {
    let tally = &engine.tally;
    let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let offered = load(&tally.offered);
    match name {
        "offered" => Some(number(offered)),
        "started" => Some(number(load(&tally.started))),
        "dropped" => Some(number(load(&tally.dropped))),
        "late" => Some(number(load(&tally.late))),
        "abandoned" => Some(number(engine.in_flight() as u64)),
        "dropped_rate" => share(load(&tally.dropped), offered),
        "late_rate" => share(load(&tally.late), offered),
        "achieved_rate" => Some(per_second(engine, load(&tally.started))),
        "unvalidated" => Some(number(engine.validator.verdicts().unvalidated)),
        "denied" => Some(number(outcomes(engine, None)?.count(CallOutcome::Denied))),
        other => calls(engine, &outcomes(engine, None)?, other),
    }
}
