//! A comparison for people: in a terminal, and as a summary for a pull request.

use std::fmt::Write as _;

use super::Overhead;
use crate::report::{Times, printable, write_string};

/// A figure of many times, and its name.
type Figure = (&'static str, fn(&Times) -> f64);

/// Rows of figures: what, directly, through, the difference of the two.
fn rows(overhead: &Overhead) -> Vec<[String; 4]> {
    let (direct, through) = (&overhead.direct.figures, &overhead.through.figures);
    let figures: [Figure; 5] = [
        ("mean", |times| times.mean_ms),
        ("p50", |times| times.p50_ms),
        ("p90", |times| times.p90_ms),
        ("p99", |times| times.p99_ms),
        ("max", |times| times.max_ms),
    ];
    let mut rows = Vec::new();
    for (name, one, other) in [
        ("response", &direct.response, &through.response),
        ("service", &direct.service, &through.service),
    ] {
        rows.extend(figures.iter().map(|(figure, of)| {
            let (one, other) = (of(one), of(other));
            [
                format!("{name} {figure}"),
                format!("{one:.3} ms"),
                format!("{other:.3} ms"),
                format!("{:+.3} ms", other - one),
            ]
        }));
    }
    rows
}

/// What the comparison says, line by line.
fn lines(overhead: &Overhead) -> Vec<String> {
    let (delta, bodies) = (&overhead.delta, &overhead.bodies);
    let mut lines = vec![
        format!(
            "pairs: {} calls, through takes {:+.3} ms longer at the median, {:+.3} ms at p90, {:+.3} ms at p99",
            delta.pairs, delta.p50_ms, delta.p90_ms, delta.p99_ms
        ),
        format!(
            "bodies: {} the same, {} spaced, {} reordered, {} renumbered, {} changed, {} not comparable",
            bodies.same,
            bodies.spaced,
            bodies.reordered,
            bodies.renumbered,
            bodies.changed,
            bodies.varying
        ),
        format!(
            "verdicts: {} differ; {} broke their contract on the way",
            overhead.verdicts_differ, overhead.gateway_changed
        ),
    ];
    for example in &overhead.examples {
        let members = match example.members.as_slice() {
            [] => "the order of the result's own members".to_owned(),
            members => members.join(", "),
        };
        lines.push(format!(
            "{}: {} in {}",
            printable(&example.tool),
            example.difference.as_str(),
            printable(&members)
        ));
    }
    let notes = overhead.notes.iter();
    lines.extend(notes.map(|note| format!("note: {}", printable(note))));
    lines
}

fn verdict(overhead: &Overhead) -> String {
    match overhead.verdict.exit {
        0 => "the same both ways".to_owned(),
        _ => overhead.verdict.reasons.join("; "),
    }
}

/// For a person at a terminal.
pub fn terminal(overhead: &Overhead) -> String {
    write_string(|out| {
        let (direct, through) = (&overhead.direct.server, &overhead.through.server);
        writeln!(out, "directly  {}", printable(&direct.target))?;
        writeln!(out, "through   {}\n", printable(&through.target))?;
        let headings = ["", "directly", "through", "difference"].map(str::to_owned);
        for [name, one, other, difference] in [headings].into_iter().chain(rows(overhead)) {
            writeln!(out, "{name:<14}{one:>14}{other:>14}{difference:>14}")?;
        }
        let lines = lines(overhead).join("\n");
        writeln!(out, "\n{lines}\n\n{}", verdict(overhead))
    })
}

/// For a pull request.
pub fn markdown(overhead: &Overhead) -> String {
    write_string(|out| {
        let head = "| | directly | through | difference |\n|---|---:|---:|---:|";
        writeln!(out, "## Overhead: {}\n\n{head}", verdict(overhead))?;
        for row in rows(overhead) {
            writeln!(out, "| {} |", row.join(" | "))?;
        }
        for line in lines(overhead) {
            writeln!(out, "\n- `{}`", line.replace('`', "'"))?;
        }
        Ok(())
    })
}
