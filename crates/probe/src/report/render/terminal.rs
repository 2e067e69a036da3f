//! A run for a person at a terminal.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::{call_cells, printable, title, tool_name, verdict};
use crate::report::{Run, RunEnd, ToolRun};

/// Violations shown; the rest is counted.
const SHOWN: usize = 20;

/// Writes the whole report.
pub(super) fn write(run: &Run, out: &mut String) -> std::fmt::Result {
    let (server, settings) = title(run);
    writeln!(out, "{server}\n{settings}")?;
    match run.ended {
        RunEnd::Finished => {}
        RunEnd::Interrupted => writeln!(out, "stopped before its end")?,
        RunEnd::Aborted => writeln!(out, "ended by a threshold")?,
    }
    let counters = &run.counters;
    writeln!(
        out,
        "\nstarts    {} offered ({:.1}/s), {} made ({:.1}/s), {} dropped, {} late, {} abandoned",
        counters.offered,
        counters.offered_rate,
        counters.started,
        counters.achieved_rate,
        counters.dropped,
        counters.late,
        counters.abandoned
    )?;
    let outcomes = run.all.outcomes.iter();
    let outcomes: Vec<String> = outcomes
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    writeln!(
        out,
        "calls     {} counted, {} of the warm-up not: {}",
        run.all.calls,
        counters.warm_up,
        outcomes.join(", ")
    )?;
    table(run, out)?;
    violations(run, out)?;
    for kept in &run.thresholds {
        let word = if kept.holds { "ok  " } else { "FAIL" };
        writeln!(
            out,
            "{word}  {} {} (is {})",
            kept.name, kept.bound, kept.measured
        )?;
    }
    for note in &run.notes {
        writeln!(out, "note: {}", printable(note))?;
    }
    writeln!(out, "\n{}", verdict(run))?;
    for reason in &run.verdict.reasons {
        writeln!(out, "  {}", printable(reason))?;
    }
    Ok(())
}

const HEADINGS: [&str; 11] = [
    "",
    "calls",
    "unexpected",
    "p50",
    "p90",
    "p99",
    "p99.9",
    "max",
    "service p50",
    "p99",
    "max",
];

fn table(run: &Run, out: &mut String) -> std::fmt::Result {
    let mut rows = vec![HEADINGS.map(str::to_owned).to_vec()];
    rows.extend(run.tools.iter().map(row));
    if run.tools.len() > 1 {
        rows.push(row(&run.all));
    }
    let mut widths = [0; 11];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    writeln!(out)?;
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let padding = " ".repeat(width - cell.width());
            match column {
                0 => write!(line, "{cell}{padding}")?,
                _ => write!(line, "  {padding}{cell}")?,
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn row(tool: &ToolRun) -> Vec<String> {
    let mut row = vec![printable(tool_name(tool))];
    row.extend(call_cells(tool));
    row
}

fn violations(run: &Run, out: &mut String) -> std::fmt::Result {
    let counts = run.policies;
    writeln!(
        out,
        "\nviolations  {} fail, {} warn, {} ignored",
        counts.fail, counts.warn, counts.ignore
    )?;
    for one in run.reported().take(SHOWN) {
        let place = one.instance_pointer.as_deref().unwrap_or_default();
        let types = match (&one.expected, &one.actual) {
            (Some(expected), Some(actual)) => format!(" expected {expected}, was {actual}"),
            _ => String::new(),
        };
        writeln!(
            out,
            "  {:<4}  {}  {} {}{}  {} times",
            one.policy,
            one.rule,
            printable(&one.tool),
            printable(place),
            printable(&types),
            one.count
        )?;
    }
    let rest = run.reported().count().saturating_sub(SHOWN);
    if rest > 0 {
        writeln!(out, "  and {rest} more")?;
    }
    Ok(())
}
