//! The activity log as a page: the filters of the command line, in the address.

use countersign_audit::{
    Decision, Filter, Kind, Page, Query, Stage, Status, StoredRecord, Timestamp,
};
use countersign_console::{Activity, Choice, Filters, Moment, Nav, Row, Text, href, query};

use super::super::activity;
use super::PageResult;
use super::visit::Visit;

/// Filters that are typed, each with an example.
const FIELDS: [(&str, &str); 3] = [("server", "crm"), ("tool", "search"), ("since", "24h")];
/// Those that are needed less often.
const MORE_FIELDS: [(&str, &str); 5] = [
    ("until", "1h"),
    ("rule", "schema.type"),
    ("caller", "key:ci"),
    ("request_id", "7"),
    ("parent_id", "01K9ZJ3M5T0000000000000000"),
];
/// The list of a decision is a click away.
const SHORTCUTS: [(&str, &str); 5] = [
    ("all", ""),
    ("blocked", "blocked"),
    ("flagged", "flagged"),
    ("rewritten", "rewritten"),
    ("errors", "error"),
];

/// A page of records. Filters that are not understood are told above an empty list.
pub(super) async fn page(visit: &Visit<'_>) -> PageResult {
    let (page, refusal) = match Query::from_pairs(visit.parameters.iter().map(pair), visit.now) {
        Ok(query) => (activity::page(visit.services, query).await?, None),
        Err(why) => (no_records(), Some(Text::new(why.to_string()))),
    };
    let is_first = visit.parameter("cursor").is_empty();
    let live = is_first && refusal.is_none();
    let mut newest = visit.parameters.clone();
    newest.retain(|(key, _)| key != "cursor");
    let next = page.next_cursor.map(|cursor| {
        let mut next = newest.clone();
        next.push(("cursor".to_owned(), cursor));
        address(&["activity"], &next)
    });
    Ok(Activity {
        frame: visit.frame(Nav::Activity, live.then(|| events(visit)).flatten()),
        filters: filters(visit),
        refusal,
        rows: page
            .activities
            .iter()
            .map(|record| row(visit, record))
            .collect(),
        next,
        newest: (!is_first).then(|| address(&["activity"], &newest)),
        unreadable: page.unreadable,
    }
    .html())
}

fn pair((key, value): &(String, String)) -> (&str, &str) {
    (key, value)
}

fn no_records() -> Page {
    Page {
        activities: Vec::new(),
        next_cursor: None,
        total: None,
        unreadable: 0,
    }
}

fn address(parts: &[&str], parameters: &[(String, String)]) -> String {
    let parameters: Vec<_> = parameters.iter().map(pair).collect();
    query(parts, &parameters)
}

/// The events that the page looks again after: those its filters let through.
fn events(visit: &Visit<'_>) -> Option<String> {
    let mut filters = visit.parameters.clone();
    filters.retain(|(key, _)| !matches!(key.as_str(), "limit" | "total"));
    let is_filter = Filter::from_pairs(filters.iter().map(pair), visit.now).is_ok();
    is_filter.then(|| address(&["events"], &filters))
}

fn filters(visit: &Visit<'_>) -> Filters {
    let choice = |name, words: &[&'static str]| Choice {
        name,
        words: words
            .iter()
            .map(|word| (*word, visit.parameter(name) == *word))
            .collect(),
    };
    let shortcut = |(word, status): (&'static str, &str)| {
        let is_current = visit.parameter("status") == status;
        (
            word,
            query(&["activity"], &[("status", status)]),
            is_current,
        )
    };
    let field = |(name, example)| (name, visit.parameter(name).to_owned(), example);
    Filters {
        choices: vec![choice("status", Status::WORDS), choice("type", Kind::WORDS)],
        fields: FIELDS.map(field).into(),
        more_choices: vec![
            choice("decision", Decision::WORDS),
            choice("stage", Stage::WORDS),
        ],
        more_fields: MORE_FIELDS.map(field).into(),
        shortcuts: SHORTCUTS.map(shortcut).into(),
    }
}

/// A record in short.
pub(super) fn row(visit: &Visit<'_>, stored: &StoredRecord) -> Row {
    let record = &stored.record;
    let subject = [record.server.as_deref(), record.tool.as_deref()];
    let subject: Vec<&str> = subject.into_iter().flatten().collect();
    Row {
        href: href(&["activity", &record.id().to_string()]),
        when: moment(record.timestamp, visit.now),
        status: record.status().as_str(),
        kind: record.kind().as_str(),
        subject: Text::new(subject.join(":")),
        sentence: Text::new(sentence(stored)),
        duration: record
            .duration_ms
            .map(|took| format!("{:.1} ms", took.as_f64()))
            .unwrap_or_default(),
    }
}

/// What happened, in one sentence.
pub(super) fn sentence(stored: &StoredRecord) -> String {
    let record = &stored.record;
    record.reason.clone().unwrap_or_else(|| {
        match record.status() {
            Status::Success => "carried out",
            Status::Error => "failed",
            Status::Rejected => "refused before the server saw it",
            Status::Flagged => "forwarded with findings",
            Status::Rewritten => "forwarded in changed form",
            Status::Blocked => "not forwarded",
        }
        .to_owned()
    })
}

pub(super) fn moment(time: Timestamp, now: Timestamp) -> Moment {
    Moment::new(time.to_string(), time.as_millis(), now.as_millis())
}
