//! A run in one of the report formats. Every form is made from the same data and nothing else;
//! what a server wrote is made safe for the form it goes into.

mod checks;
mod html;
mod markdown;
mod prometheus;
mod terminal;

pub(crate) use prometheus::write_violations;

use countersign_inspect::word_enum;

use super::{Counters, Run, ToolRun};

word_enum! {
    /// The form of a report.
    #[derive(PartialOrd, Ord)]
    pub enum Format {
        /// Tables for a person at a terminal.
        Terminal = "terminal",
        /// Everything, for machines; the others are made from it.
        Json = "json",
        /// A summary for a pull request or a CI step.
        Markdown = "markdown",
        /// Test suites, one per tool.
        Junit = "junit",
        /// Code scanning results.
        Sarif = "sarif",
        /// One file with charts.
        Html = "html",
        /// Text exposition of the counters.
        Prometheus = "prometheus",
    }
}

/// A run as text.
pub fn render(run: &Run, format: Format) -> String {
    match format {
        Format::Terminal => write_string(|out| terminal::write(run, out)),
        // Everything in a run has a JSON form.
        Format::Json => serde_json::to_string_pretty(run).unwrap_or_default() + "\n",
        Format::Markdown => write_string(|out| markdown::write(run, out)),
        Format::Html => write_string(|out| html::write(run, out)),
        Format::Prometheus => write_string(|out| prometheus::write(run, out)),
        Format::Junit => checks::junit(run),
        Format::Sarif => checks::sarif(run),
    }
}

/// The text that `write` makes. Writing into memory does not fail.
pub(crate) fn write_string(write: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
    let mut out = String::new();
    let result = write(&mut out);
    debug_assert!(
        result.is_ok(),
        "only a `Display` that fails could fail here"
    );
    out
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

/// The server and the settings of the run, in a line each.
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
    let settings = format!(
        "{}; warm-up {} s; seed {}; {mode}",
        run.plan.executor, run.plan.warm_up_s, run.plan.seed
    );
    (server, settings)
}

/// The starts of a run as cells: offered, made, dropped, late, abandoned, not validated.
fn start_cells(counters: &Counters) -> [String; 6] {
    [
        format!("{} ({:.1}/s)", counters.offered, counters.offered_rate),
        format!("{} ({:.1}/s)", counters.started, counters.achieved_rate),
        counters.dropped.to_string(),
        counters.late.to_string(),
        counters.abandoned.to_string(),
        counters.unvalidated.to_string(),
    ]
}

/// The calls of a tool as cells: how many, how many unexpected, p50, p90, p99, p99.9 and longest
/// response time, p50, p99 and longest service time.
fn call_cells(tool: &ToolRun) -> [String; 10] {
    let (response, service) = (&tool.figures.response, &tool.figures.service);
    [
        tool.calls.to_string(),
        tool.unexpected.to_string(),
        time(response.p50_ms),
        time(response.p90_ms),
        time(response.p99_ms),
        time(response.p999_ms),
        time(response.max_ms),
        time(service.p50_ms),
        time(service.p99_ms),
        time(service.max_ms),
    ]
}

/// The name of a tool, or of all together.
fn tool_name(tool: &ToolRun) -> &str {
    match tool.tool.as_str() {
        "" => "all",
        name => name,
    }
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
