//! The overview: counts over time, the servers with their rates, and the state of the store.

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_audit::{HourCounts, Summary, SummaryRow, Timestamp};
use countersign_console::{Bar, Chart, Fact, Nav, Overview, Panel, ServerRate, Text, href, query};

use super::super::{activity, servers};
use super::PageResult;
use super::visit::Visit;

const HOUR: Duration = Duration::from_hours(1);

/// What can be shown: the word, the hours of one interval, and how many intervals.
const RANGES: [(&str, u32, u32); 4] =
    [("6h", 1, 6), ("24h", 1, 24), ("7d", 6, 28), ("30d", 24, 30)];
const USUAL: usize = 1;

/// A parameter of the activity log, and its value.
type Filter = (&'static str, &'static str);
/// What is counted: the label, the class of its colour, and the filter of the list behind it.
type Counted = (&'static str, &'static str, Filter);

const COUNTED: [Counted; 4] = [
    ("calls", "", ("type", "tool_call")),
    ("blocked", "blocked", ("status", "blocked")),
    ("flagged", "flagged", ("status", "flagged")),
    ("rewritten", "rewritten", ("status", "rewritten")),
];

/// The first page.
pub(super) async fn page(visit: &Visit<'_>) -> PageResult {
    let wanted = visit.parameter("range");
    let found = RANGES.iter().find(|(word, ..)| *word == wanted);
    let (range, step, intervals) = *found.unwrap_or(&RANGES[USUAL]);
    // The hours of the store are whole ones, of which the last one is not over yet.
    let period = HOUR.saturating_mul(intervals * step - 1);
    let counts = activity::counts(visit.services, period, visit.now);
    let counts = visit.services.recent_counts.get(range, counts).await?;
    let (hours, summary) = &*counts;
    let step = usize::try_from(step).unwrap_or(1);
    let panel = |counted| panel(counted, hours, step);
    let events = Some(href(&["events"]));
    Ok(Overview {
        frame: visit.frame(Nav::Overview, events),
        range,
        ranges: RANGES.iter().map(|(word, ..)| *word).collect(),
        panels: COUNTED.map(panel).into(),
        servers: rates(visit, summary),
        facts: facts(visit),
    }
    .html())
}

fn count(hours: &[HourCounts], (parameter, word): Filter) -> u64 {
    let counts = hours.iter().map(|hour| match parameter {
        "type" => hour.types.get(word),
        _ => hour.statuses.get(word),
    });
    counts.flatten().sum()
}

/// The course of one count, in intervals of so many hours.
fn panel((label, class, filter): Counted, hours: &[HourCounts], step: usize) -> Panel {
    let since = |hours: &[HourCounts]| hours.first().map(|hour| hour.since.to_string());
    let intervals: Vec<&[HourCounts]> = hours.chunks(step.max(1)).collect();
    let ends = intervals.iter().skip(1).map(|next| since(next));
    let bar = |(hours, until): (&&[HourCounts], Option<String>)| {
        let (since, until) = (since(hours).unwrap_or_default(), until.unwrap_or_default());
        let parameters = [filter, ("since", &since), ("until", &until)];
        Bar {
            count: count(hours, filter),
            label: format!("from {since}"),
            href: query(&["activity"], &parameters),
        }
    };
    let since = since(hours).unwrap_or_default();
    Panel {
        label,
        count: count(hours, filter),
        href: query(&["activity"], &[filter, ("since", &since)]),
        chart: Chart {
            title: label,
            class,
            bars: intervals.iter().zip(ends.chain([None])).map(bar).collect(),
        },
    }
}

/// Every configured server, and those that have records and are configured no more.
fn rates(visit: &Visit<'_>, summary: &Summary) -> Vec<ServerRate> {
    let since = summary.since;
    let rows = summary.rows.iter();
    let mut rows: BTreeMap<&str, &SummaryRow> = rows
        .filter_map(|row| Some((row.server.as_deref()?, row)))
        .collect();
    let none = SummaryRow::default();
    let configured = servers::all(visit.services, visit.snapshot);
    let mut rates: Vec<ServerRate> = configured
        .iter()
        .map(|server| {
            let row = rows.remove(server.name.as_str()).unwrap_or(&none);
            rate(&server.name, server.state, row, since)
        })
        .collect();
    let gone = rows.into_iter();
    rates.extend(gone.map(|(name, row)| rate(name, "not configured", row, since)));
    rates
}

fn rate(name: &str, state: &str, row: &SummaryRow, since: Timestamp) -> ServerRate {
    let since = since.to_string();
    let counted = |word: &str, count: u64| {
        let filter = [("server", name), ("status", word), ("since", &*since)];
        (count, query(&["activity"], &filter))
    };
    let status = |word| counted(word, row.statuses.get(word).copied().unwrap_or(0));
    let per_cent = |rate: f64| format!("{:.1} %", rate * 100.0);
    ServerRate {
        name: Text::new(name),
        href: href(&["servers", name]),
        state: state.to_owned(),
        counts: [
            counted("", row.total),
            status("blocked"),
            status("flagged"),
            status("rewritten"),
        ],
        rate: row.rejection_rate.map(per_cent),
        rate_href: query(
            &["activity"],
            &[
                ("server", name),
                ("type", "policy_decision"),
                ("stage", "contract,guard,shape"),
                ("since", &since),
            ],
        ),
        rising: row.rising.map(|rising| {
            let (now, before) = (rising.last_hour_rate, rising.trailing_rate);
            format!(
                "{} in the last hour, {} before",
                per_cent(now),
                per_cent(before)
            )
        }),
    }
}

/// The gateway and its store.
fn facts(visit: &Visit<'_>) -> Vec<Fact> {
    let stats = visit.services.store.stats();
    let lost = stats.dropped + stats.failed;
    let healthy = if stats.healthy {
        "writes"
    } else {
        "the last write failed"
    };
    let status = visit.services.reloads.status();
    let config = match status.errors.first() {
        Some(error) => format!("not applied: {}", error.message),
        None => "applied".to_owned(),
    };
    vec![
        Fact::new("version", env!("CARGO_PKG_VERSION")),
        Fact::new("configuration", config).marked(!status.errors.is_empty()),
        Fact::new("activity store", healthy).marked(!stats.healthy),
        Fact::new("records since the start", stats.committed.to_string()),
        Fact::new("records lost", lost.to_string()).marked(lost > 0),
        Fact::new("heads of the chain signed", stats.checkpoints.to_string()),
    ]
}
