//! A run as the text that metric stores scrape.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::report::{Figures, Run, Times};

const RESPONSE: &str = "From when a call was due to the last byte of its answer.";
const SERVICE: &str = "From when a call was sent to the last byte of its answer.";

/// Writes the metrics.
pub(super) fn render(run: &Run) -> String {
    let mut out = String::new();
    // Writing into a text cannot fail.
    let _always = write(run, &mut out);
    out
}

/// A label's value.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

fn write(run: &Run, out: &mut String) -> std::fmt::Result {
    starts(run, out)?;
    calls(run, out)?;
    summary("response", RESPONSE, run, |figures| &figures.response, out)?;
    summary("service", SERVICE, run, |figures| &figures.service, out)?;
    violations(run, out)?;
    head(
        out,
        "countersign_load_exit_code",
        "gauge",
        "The exit code of the run; 0 is a pass.",
    )?;
    writeln!(out, "countersign_load_exit_code {}", run.verdict.exit)
}

/// The two lines before the samples of a metric.
fn head(out: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

fn starts(run: &Run, out: &mut String) -> std::fmt::Result {
    let counters = &run.counters;
    head(
        out,
        "countersign_load_starts_total",
        "counter",
        "Starts after the warm-up, by what became of them.",
    )?;
    for (kind, count) in [
        ("offered", counters.offered),
        ("started", counters.started),
        ("dropped", counters.dropped),
        ("late", counters.late),
        ("abandoned", counters.abandoned),
    ] {
        writeln!(
            out,
            "countersign_load_starts_total{{kind=\"{kind}\"}} {count}"
        )?;
    }
    Ok(())
}

fn calls(run: &Run, out: &mut String) -> std::fmt::Result {
    head(
        out,
        "countersign_load_calls_total",
        "counter",
        "Calls that ended, by tool and outcome.",
    )?;
    for tool in &run.tools {
        for (outcome, count) in &tool.outcomes {
            writeln!(
                out,
                "countersign_load_calls_total{{tool=\"{}\",outcome=\"{}\"}} {count}",
                label(&tool.tool),
                label(outcome)
            )?;
        }
    }
    Ok(())
}

/// One of the times of a call, of every tool.
fn summary(
    name: &str,
    help: &str,
    run: &Run,
    of: fn(&Figures) -> &Times,
    out: &mut String,
) -> std::fmt::Result {
    head(
        out,
        &format!("countersign_load_{name}_seconds"),
        "summary",
        help,
    )?;
    for tool in &run.tools {
        times(name, &label(&tool.tool), of(&tool.figures), out)?;
    }
    Ok(())
}

fn times(name: &str, tool: &str, times: &Times, out: &mut String) -> std::fmt::Result {
    for (quantile, ms) in [
        ("0.5", times.p50_ms),
        ("0.9", times.p90_ms),
        ("0.99", times.p99_ms),
        ("0.999", times.p999_ms),
    ] {
        writeln!(
            out,
            "countersign_load_{name}_seconds{{tool=\"{tool}\",quantile=\"{quantile}\"}} {}",
            ms / 1e3
        )?;
    }
    let count = times.count;
    #[expect(clippy::cast_precision_loss, reason = "no run has 2^52 calls")]
    let sum = times.mean_ms * count as f64 / 1e3;
    writeln!(
        out,
        "countersign_load_{name}_seconds_sum{{tool=\"{tool}\"}} {sum}"
    )?;
    writeln!(
        out,
        "countersign_load_{name}_seconds_count{{tool=\"{tool}\"}} {count}"
    )
}

fn violations(run: &Run, out: &mut String) -> std::fmt::Result {
    head(
        out,
        "contract_violations_total",
        "counter",
        "Violations of declared contracts.",
    )?;
    let mut by_site: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for one in &run.violations {
        let key = (one.tool.as_str(), one.site.as_str(), one.policy.as_str());
        *by_site.entry(key).or_default() += one.count;
    }
    for ((tool, site, policy), count) in by_site {
        writeln!(
            out,
            "contract_violations_total{{tool=\"{}\",site=\"{site}\",policy=\"{policy}\"}} {count}",
            label(tool)
        )?;
    }
    Ok(())
}
