//! A run as the text that metric stores scrape.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::policy::SchemaPolicy;
use crate::report::{Figures, Run, Times, number};

const RESPONSE: &str = "From when a call was due to the last byte of its answer.";
const SERVICE: &str = "From when a call was sent to the last byte of its answer.";

/// A label's value.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// Writes the metrics.
pub(super) fn write(run: &Run, out: &mut String) -> std::fmt::Result {
    starts(run, out)?;
    calls(run, out)?;
    summary("response", RESPONSE, run, |figures| &figures.response, out)?;
    summary("service", SERVICE, run, |figures| &figures.service, out)?;
    let violations = run.violations.iter();
    let violations = violations.map(|one| (&*one.tool, &*one.site, one.policy, one.count));
    write_violations(violations, out)?;
    let help = "The exit code of the run; 0 is a pass.";
    head(out, "countersign_load_exit_code", "gauge", help)?;
    writeln!(out, "countersign_load_exit_code {}", run.verdict.exit)
}

/// The two lines before the samples of a metric.
fn head(out: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

fn starts(run: &Run, out: &mut String) -> std::fmt::Result {
    let counters = &run.counters;
    let help = "Starts after the warm-up, by what became of them.";
    head(out, "countersign_load_starts_total", "counter", help)?;
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
    let help = "Calls that ended, by tool and outcome.";
    head(out, "countersign_load_calls_total", "counter", help)?;
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
    times: fn(&Figures) -> &Times,
    out: &mut String,
) -> std::fmt::Result {
    let name = format!("countersign_load_{name}_seconds");
    head(out, &name, "summary", help)?;
    for tool in &run.tools {
        let (times, tool) = (times(&tool.figures), label(&tool.tool));
        for (quantile, ms) in [
            ("0.5", times.p50_ms),
            ("0.9", times.p90_ms),
            ("0.99", times.p99_ms),
            ("0.999", times.p999_ms),
        ] {
            let seconds = ms / 1e3;
            writeln!(
                out,
                "{name}{{tool=\"{tool}\",quantile=\"{quantile}\"}} {seconds}"
            )?;
        }
        let sum = times.mean_ms * number(times.count) / 1e3;
        writeln!(out, "{name}_sum{{tool=\"{tool}\"}} {sum}")?;
        writeln!(out, "{name}_count{{tool=\"{tool}\"}} {}", times.count)?;
    }
    Ok(())
}

/// The counter of violations: tool, site, policy and how often, for each.
pub(crate) fn write_violations<'a>(
    violations: impl Iterator<Item = (&'a str, &'a str, SchemaPolicy, u64)>,
    out: &mut String,
) -> std::fmt::Result {
    let help = "Violations of declared contracts.";
    head(out, "contract_violations_total", "counter", help)?;
    let mut by_site: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for (tool, site, policy, count) in violations {
        *by_site.entry((tool, site, policy.as_str())).or_default() += count;
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
