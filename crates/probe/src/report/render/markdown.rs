//! A run as a summary for a pull request or a CI step.

use std::fmt::Write as _;

use super::{call_cells, printable, start_cells, title, tool_name, verdict};
use crate::report::Run;

/// A text in a cell of a table: nothing in it is markup.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for letter in printable(text).chars() {
        if letter.is_ascii_punctuation() && !matches!(letter, '.' | ',' | '-' | '/' | ':' | '=') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// Writes the summary.
pub(super) fn write(run: &Run, out: &mut String) -> std::fmt::Result {
    let (server, settings) = title(run);
    writeln!(out, "## Load: {}\n", verdict(run))?;
    writeln!(out, "{}\n\n{}\n", cell(&server), cell(&settings))?;
    for reason in &run.verdict.reasons {
        writeln!(out, "- {}", cell(reason))?;
    }
    starts(run, out)?;
    tools(run, out)?;
    violations(run, out)?;
    for note in &run.notes {
        writeln!(out, "\n> {}", cell(note))?;
    }
    Ok(())
}

fn starts(run: &Run, out: &mut String) -> std::fmt::Result {
    let [shown @ .., _unvalidated] = start_cells(&run.counters);
    writeln!(
        out,
        "\n| offered | made | dropped | late | abandoned |\n|---:|---:|---:|---:|---:|\n| {} |\n",
        shown.join(" | ")
    )
}

fn tools(run: &Run, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "| tool | calls | unexpected | p50 | p90 | p99 | max | service p99 |\n|---|---:|---:|---:|---:|---:|---:|---:|"
    )?;
    for tool in run.tools.iter().chain([&run.all]) {
        let name = cell(tool_name(tool));
        let [calls, unexpected, p50, p90, p99, _, max, _, service, _] = call_cells(tool);
        writeln!(
            out,
            "| {name} | {calls} | {unexpected} | {p50} | {p90} | {p99} | {max} | {service} |"
        )?;
    }
    Ok(())
}

fn violations(run: &Run, out: &mut String) -> std::fmt::Result {
    let mut shown = run.reported().peekable();
    if shown.peek().is_some() {
        writeln!(
            out,
            "\n| policy | rule | tool | where | count |\n|---|---|---|---|---:|"
        )?;
    }
    for one in shown {
        let place = one.instance_pointer.as_deref().unwrap_or_default();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            one.policy,
            one.rule,
            cell(&one.tool),
            cell(place),
            one.count
        )?;
    }
    Ok(())
}
