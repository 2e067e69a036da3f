//! A run as a summary for a pull request or a CI step.

use std::fmt::Write as _;

use super::{printable, time, title, verdict};
use crate::policy::SchemaPolicy;
use crate::report::Run;

/// Writes the summary.
pub(super) fn render(run: &Run) -> String {
    let mut out = String::new();
    // Writing into a text cannot fail.
    let _always = write(run, &mut out);
    out
}

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

fn write(run: &Run, out: &mut String) -> std::fmt::Result {
    let (server, asked) = title(run);
    writeln!(out, "## Load: {}\n", verdict(run))?;
    writeln!(out, "{}\n\n{}\n", cell(&server), cell(&asked))?;
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
    let counters = &run.counters;
    writeln!(
        out,
        "\n| offered | made | dropped | late | abandoned |\n|---:|---:|---:|---:|---:|\n| {} ({:.1}/s) | {} ({:.1}/s) | {} | {} | {} |\n",
        counters.offered,
        counters.offered_rate,
        counters.started,
        counters.achieved_rate,
        counters.dropped,
        counters.late,
        counters.abandoned
    )
}

fn tools(run: &Run, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "| tool | calls | unexpected | p50 | p90 | p99 | max | service p99 |\n|---|---:|---:|---:|---:|---:|---:|---:|"
    )?;
    for tool in run.tools.iter().chain(std::iter::once(&run.all)) {
        let (response, service) = (&tool.figures.response, &tool.figures.service);
        let name = if tool.tool.is_empty() {
            "all"
        } else {
            &tool.tool
        };
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(name),
            tool.calls,
            tool.unexpected,
            time(response.p50_ms),
            time(response.p90_ms),
            time(response.p99_ms),
            time(response.max_ms),
            time(service.p99_ms)
        )?;
    }
    Ok(())
}

fn violations(run: &Run, out: &mut String) -> std::fmt::Result {
    let shown = run.violations.iter();
    let mut shown = shown
        .filter(|one| one.policy != SchemaPolicy::Ignore)
        .peekable();
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
