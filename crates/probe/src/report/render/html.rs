//! A run as one file with charts: styles and drawings inside it, no script, nothing fetched.

mod chart;

use std::fmt::Write as _;

use super::{call_cells, start_cells, title, tool_name, verdict};
use crate::report::junit::escape_markup;
use crate::report::{Run, ToolRun};
use chart::{bars, lines, percentiles, shares};

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c2733;--dim:#5c6b7a;--line:#d5dde5;--page:#fff;--a:#2563eb;--b:#d97706;--c:#9333ea;--good:#15803d;--bad:#b91c1c}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9aa7b4;--line:#33404d;--page:#11181f;--a:#60a5fa;--b:#fbbf24;--c:#c084fc;--good:#4ade80;--bad:#f87171}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:64rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}p{margin:.2rem 0}.dim{color:var(--dim)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}th,td{text-align:right;padding:.25rem .5rem;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{text-align:left}th{font-weight:600}.text td,.text th{text-align:left}.pass{color:var(--good)}.fail{color:var(--bad)}
svg{width:100%;height:auto;display:block}svg text{fill:var(--dim);font:11px system-ui,sans-serif}svg .grid{stroke:var(--line)}
.key{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin:0 .3em 0 1em;vertical-align:-.05em}";

/// A text that is no markup.
pub(super) fn escaped(text: &str) -> String {
    escape_markup(&super::printable(text))
}

/// Writes the page.
pub(super) fn write(run: &Run, out: &mut String) -> std::fmt::Result {
    let (server, settings) = title(run);
    let class = if run.verdict.exit == 0 {
        "pass"
    } else {
        "fail"
    };
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>Load: {0}</title>\n<style>{STYLE}</style></head><body>\n<h1>Load: <span class=\"{class}\" id=\"verdict\">{0}</span></h1>\n<p>{1}</p><p class=\"dim\">{2}</p>",
        escaped(&verdict(run)),
        escaped(&server),
        escaped(&settings)
    )?;
    for reason in &run.verdict.reasons {
        writeln!(out, "<p class=\"fail\">{}</p>", escaped(reason))?;
    }
    starts(run, out)?;
    writeln!(out, "<h2>Response time over time</h2>")?;
    legend(out, &[("a", "median"), ("b", "p99"), ("c", "longest")])?;
    lines(run, out)?;
    writeln!(out, "<h2>Calls over time</h2>")?;
    legend(out, &[("good", "as expected"), ("bad", "not as expected")])?;
    bars(run, out)?;
    writeln!(out, "<h2>Outcomes</h2>")?;
    shares(run, out)?;
    writeln!(out, "<h2>Response and service time by percentile</h2>")?;
    legend(out, &[("a", "response"), ("b", "service")])?;
    percentiles(run, out)?;
    tools(run, out)?;
    violations(run, out)?;
    thresholds(run, out)?;
    for note in &run.notes {
        writeln!(out, "<p class=\"dim\">{}</p>", escaped(note))?;
    }
    writeln!(out, "</body></html>")
}

fn legend(out: &mut String, keys: &[(&str, &str)]) -> std::fmt::Result {
    write!(out, "<p class=\"dim\">")?;
    for (colour, name) in keys {
        write!(
            out,
            "<span class=\"key\" style=\"background:var(--{colour})\"></span>{name}"
        )?;
    }
    writeln!(out, "</p>")
}

/// A row of a table. The cells are markup already.
fn row(cells: &[String]) -> String {
    format!("<tr><td>{}</td></tr>", cells.join("</td><td>"))
}

fn starts(run: &Run, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "<h2>Starts</h2><table><tr><th>offered</th><th>made</th><th>dropped</th><th>late</th><th>abandoned</th><th>not validated</th></tr>{}</table>",
        row(&start_cells(&run.counters))
    )
}

fn tools(run: &Run, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "<h2>Tools</h2><table id=\"tools\"><tr><th>tool</th><th>calls</th><th>unexpected</th><th>p50</th><th>p90</th><th>p99</th><th>p99.9</th><th>max</th><th>service p50</th><th>service p99</th></tr>"
    )?;
    let row = |tool: &ToolRun| {
        let [shown @ .., _longest_service] = call_cells(tool);
        row(&[&[escaped(tool_name(tool))], &shown[..]].concat())
    };
    for tool in &run.tools {
        writeln!(out, "{}", row(tool))?;
    }
    writeln!(out, "{}</table>", row(&run.all))
}

fn violations(run: &Run, out: &mut String) -> std::fmt::Result {
    let counts = run.policies;
    writeln!(
        out,
        "<h2>Contract</h2><p>{} fail, {} warn, {} ignored</p>",
        counts.fail, counts.warn, counts.ignore
    )?;
    if run.violations.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<table class=\"text\"><tr><th>policy</th><th>rule</th><th>tool</th><th>where</th><th>expected</th><th>was</th><th>count</th></tr>"
    )?;
    for one in &run.violations {
        let text = |value: &Option<String>| escaped(value.as_deref().unwrap_or_default());
        let cells = [
            one.policy.to_string(),
            escaped(&one.rule),
            escaped(&one.tool),
            text(&one.instance_pointer),
            text(&one.expected),
            text(&one.actual),
            one.count.to_string(),
        ];
        writeln!(out, "{}", row(&cells))?;
    }
    writeln!(out, "</table>")
}

fn thresholds(run: &Run, out: &mut String) -> std::fmt::Result {
    if run.thresholds.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Thresholds</h2><table class=\"text\"><tr><th></th><th>metric</th><th>must be</th><th>is</th></tr>"
    )?;
    for kept in &run.thresholds {
        let (class, word) = if kept.holds {
            ("pass", "holds")
        } else {
            ("fail", "fails")
        };
        writeln!(
            out,
            "<tr><td class=\"{class}\">{word}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&kept.name),
            escaped(&kept.bound),
            escaped(&kept.measured)
        )?;
    }
    writeln!(out, "</table>")
}
