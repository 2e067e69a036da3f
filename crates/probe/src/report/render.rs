//! A run in one of the report formats. Every form is made from the same data and nothing else;
//! what a server wrote is made safe for the form it goes into.

mod checks;
mod html;
mod markdown;
mod prometheus;
mod terminal;

use super::Run;
use crate::plan::Format;

/// A run as text.
pub fn render(run: &Run, format: Format) -> String {
    match format {
        Format::Terminal => terminal::render(run),
        // Everything in a run has a JSON form.
        Format::Json => serde_json::to_string_pretty(run).unwrap_or_default() + "\n",
        Format::Markdown => markdown::render(run),
        Format::Html => html::render(run),
        Format::Prometheus => prometheus::render(run),
        Format::Junit => checks::junit(run),
        Format::Sarif => checks::sarif(run),
    }
}

/// Text from a file or a peer, made safe for a terminal: control and invisible characters become visible escapes.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\'' | '\\' => out.push(letter),
            other => out.extend(other.escape_debug()),
        }
    }
    out
}

/// Milliseconds with three digits, or two places below one.
fn time(ms: f64) -> String {
    if ms >= 10_000.0 {
        format!("{:.1} s", ms / 1e3)
    } else if ms >= 100.0 {
        format!("{ms:.0} ms")
    } else if ms >= 1.0 {
        format!("{ms:.1} ms")
    } else {
        format!("{ms:.2} ms")
    }
}

/// The server and what was asked for, in a line each.
fn title(run: &Run) -> (String, String) {
    let served = &run.server;
    let name = match (served.name.as_str(), served.version.as_str()) {
        ("", _) => "unnamed".to_owned(),
        (name, version) => format!("{name} {version}"),
    };
    let server = format!(
        "{} ({}, {}, {} {})",
        printable(&served.target),
        printable(name.trim()),
        served.transport,
        served.era,
        printable(&served.protocol)
    );
    let mode = if run.plan.strict { "strict" } else { "lenient" };
    let asked = format!(
        "{}; warm-up {} s; seed {}; {mode}",
        run.plan.executor, run.plan.warm_up_s, run.plan.seed
    );
    (server, asked)
}

/// What the verdict says.
fn verdict(run: &Run) -> String {
    match run.verdict.exit {
        0 => "pass".to_owned(),
        4 => "no result: the offered load was not made (exit 4)".to_owned(),
        exit => format!("fail (exit {exit})"),
    }
}

#[cfg(test)]
mod tests;
