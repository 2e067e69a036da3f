//! `Preview`: what strict mode would block of recorded calls, counted per tool. Nothing is judged again: a record of a call
//! in `warn` has everything that was found, and [`countersign_inspect::decide`] says what strict mode makes of each finding.
//!
//! What is found follows the settings of the time of the call. What is done about it follows the overrides of today. A call
//! in mode `off` was not checked, so nothing is known about it.

mod newest_calls;
mod record_preview;

use std::collections::BTreeMap;
use std::fmt;

use countersign_inspect::Overrides;
pub(crate) use newest_calls::NewestCalls;
use record_preview::RecordPreview;
use serde::Serialize;

use crate::id::Ulid;
use crate::query::Filter;
use crate::record::{Kind, Mode, Record};
use crate::time::Timestamp;

/// Rows that are kept. A server may invent tools; the totals count them all.
const MAX_ROWS: usize = 10_000;
/// A preview of the newest calls looks at this number of calls at most.
pub const MAX_LAST_CALLS: usize = 10_000;

/// What strict mode would block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// The mode that is looked ahead to.
    pub mode: Mode,
    /// From when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// No more than this number of the newest calls was looked at, if there was such a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<usize>,
    /// All rows together.
    #[serde(flatten)]
    pub total: PreviewCounts,
    /// One row per tool, those with the most to block first.
    pub rows: Vec<PreviewRow>,
    /// Records of tools that have no row because there are too many.
    #[serde(skip_serializing_if = "crate::record::is_zero")]
    pub left_out: u64,
}

/// One tool; or everything of another kind that a server was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreviewRow {
    /// `tool_call`, or the other kind of call.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The server.
    pub server: String,
    /// The tool, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The numbers.
    #[serde(flatten)]
    pub counts: PreviewCounts,
    /// The rules that would block, and in how many results.
    pub rules: BTreeMap<String, u64>,
}

/// Numbers of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PreviewCounts {
    /// Calls that reached the server, or whose arguments were refused.
    pub calls: u64,
    /// Those that strict mode would block.
    pub would_be_blocked: u64,
    /// Those of them that were blocked in the mode they were made in.
    pub already_blocked: u64,
    /// Those that were made in mode `off`, of which nothing is known.
    pub unknown: u64,
}

impl PreviewCounts {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.would_be_blocked += other.would_be_blocked;
        self.already_blocked += other.already_blocked;
        self.unknown += other.unknown;
    }
}

/// A row, and what holds for it.
struct Row {
    counts: PreviewCounts,
    rules: BTreeMap<String, u64>,
    overrides: Overrides,
}

/// Counts records, in the order of the store.
pub(crate) struct PreviewTally<'a> {
    overrides: &'a dyn Fn(&str, &str) -> Overrides,
    rows: BTreeMap<(String, Kind, Option<String>), Row>,
    total: PreviewCounts,
    left_out: u64,
    /// The last call that was not of a tool: the decision about it comes next and does not say what kind of call it was.
    last_other: Option<(Ulid, Kind)>,
}

impl<'a> PreviewTally<'a> {
    pub(crate) fn new(overrides: &'a dyn Fn(&str, &str) -> Overrides) -> Self {
        Self {
            overrides,
            rows: BTreeMap::new(),
            total: PreviewCounts::default(),
            left_out: 0,
            last_other: None,
        }
    }

    /// The records to count, of those that are asked for.
    pub(crate) fn filter(filter: &Filter) -> Filter {
        let is_wanted = |kind: &Kind| kind.is_call() || *kind == Kind::PolicyDecision;
        Filter {
            types: Kind::ALL.iter().copied().filter(is_wanted).collect(),
            ..filter.clone()
        }
    }

    pub(crate) fn add(&mut self, record: &Record) {
        let Some(server) = record.server.clone() else {
            return;
        };
        let kind = self.kind_of_call(record);
        let tool = record.tool.clone().filter(|_| kind == Kind::ToolCall);
        let key = (server, kind, tool);
        let known = self.rows.get(&key);
        let overrides = known.map_or_else(
            || (self.overrides)(&key.0, key.2.as_deref().unwrap_or_default()),
            |row| row.overrides,
        );
        let preview = RecordPreview::from_record(record, overrides);
        if known.is_none() && preview.is_nothing() {
            return;
        }
        self.total.add(preview.counts);
        if known.is_none() && self.rows.len() >= MAX_ROWS {
            self.left_out += 1;
            return;
        }
        let row = self.rows.entry(key).or_insert_with(|| Row {
            counts: PreviewCounts::default(),
            rules: BTreeMap::new(),
            overrides,
        });
        row.counts.add(preview.counts);
        for rule in preview.rules {
            *row.rules.entry(rule.to_owned()).or_default() += 1;
        }
    }

    /// What kind of call a record is about.
    fn kind_of_call(&mut self, record: &Record) -> Kind {
        if record.kind() == Kind::PolicyDecision {
            let other = self
                .last_other
                .filter(|(id, _)| record.parent_id == Some(*id));
            return other.map_or(Kind::ToolCall, |(_, kind)| kind);
        }
        if record.kind() != Kind::ToolCall {
            self.last_other = Some((record.id(), record.kind()));
        }
        record.kind()
    }

    pub(crate) fn finish(self, filter: &Filter) -> Preview {
        let rows = self.rows.into_iter();
        let mut rows: Vec<PreviewRow> = rows
            .map(|((server, kind, tool), row)| PreviewRow {
                kind,
                server,
                tool,
                counts: row.counts,
                rules: row.rules,
            })
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.counts.would_be_blocked));
        Preview {
            mode: Mode::Strict,
            since: filter.since,
            until: filter.until,
            last: None,
            total: self.total,
            rows,
            left_out: self.left_out,
        }
    }
}

impl fmt::Debug for PreviewTally<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreviewTally")
            .field("rows", &self.rows.len())
            .finish_non_exhaustive()
    }
}
