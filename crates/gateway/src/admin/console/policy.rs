//! The policy page: the mode of each tool, and what a change would have blocked.

use std::sync::Arc;

use countersign_audit::{PreviewRow as Counted, Reader};
use countersign_console::{
    Nav, PolicyPage, Preview, PreviewRow, Scope, StagedChange, Text, ToolRow, query,
};

use super::super::preview::{self, PreviewQuery};
use super::super::{ApiError, activity, tools};
use super::PageResult;
use super::changes::mode_patch;
use super::tools::row;
use super::visit::Visit;

/// So many tools are listed at once.
const MAX_ROWS: usize = 500;
/// How far back a preview looks, as the command line does.
const PERIOD: &str = "7d";
/// No more than this number of calls is looked at, so that the page is quick in a large store too.
const LAST: &str = "1000";
const MODES: [(&str, &str); 3] = [
    (
        "off",
        "results are forwarded without being held to their contract",
    ),
    (
        "warn",
        "results that break their contract are forwarded and recorded",
    ),
    ("strict", "results that break their contract are blocked"),
];

/// The page; with a mode in its address, also what that would change.
pub(super) async fn page(visit: &Visit<'_>) -> PageResult {
    let wanted = visit.parameter("mode");
    let staged = match MODES.iter().find(|(mode, _)| *mode == wanted) {
        Some((mode, meaning)) => Some(staged(visit, mode, meaning).await?),
        None => None,
    };
    let mut rows: Vec<ToolRow> = tools::all(visit.snapshot).map(|tool| row(&tool)).collect();
    let left_out = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    let servers = visit.snapshot.settings.config.servers.iter();
    Ok(PolicyPage {
        frame: visit.frame(Nav::Policy, None),
        modes: MODES.iter().map(|(mode, _)| *mode).collect(),
        servers: servers
            .map(|server| Text::new(server.name.as_str()))
            .collect(),
        staged,
        undo: visit.session.undo().map(|(_, change)| Text::new(change)),
        rows,
        left_out,
    }
    .html())
}

async fn staged(
    visit: &Visit<'_>,
    mode: &'static str,
    meaning: &'static str,
) -> Result<StagedChange, ApiError> {
    let (server, tool) = (visit.parameter("server"), visit.parameter("tool"));
    let preview = match mode {
        "strict" => Some(look_ahead(visit, server, tool).await?),
        _ => None,
    };
    let patch = mode_patch(server, tool, Some(mode));
    Ok(StagedChange {
        scope: Scope {
            server: server.to_owned(),
            tool: tool.to_owned(),
        },
        mode,
        meaning,
        preview,
        patch: serde_json::to_string_pretty(&patch).unwrap_or_default(),
    })
}

/// What strict mode would have blocked, as `GET /api/v1/policy/preview` counts it.
async fn look_ahead(visit: &Visit<'_>, server: &str, tool: &str) -> Result<Preview, ApiError> {
    let pairs = [
        ("since", PERIOD),
        ("last", LAST),
        ("server", server),
        ("tool", tool),
    ];
    let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    let asked = PreviewQuery::from_pairs(pairs, visit.now).map_err(ApiError::bad_request)?;
    let config = Arc::clone(&visit.snapshot.settings.config);
    let counted = move |reader: &Reader| preview::preview(&config, reader, &asked);
    let counted = activity::read(visit.services, counted).await?;
    let rows = counted.rows.iter();
    let rows = rows.filter(|row| row.counts.would_be_blocked > 0);
    Ok(Preview {
        looked_at: match counted.total.calls {
            calls if calls.to_string() == LAST => format!("the last {calls} calls"),
            calls => format!("{calls} calls of the last {PERIOD}"),
        },
        would_be_blocked: counted.total.would_be_blocked,
        already_blocked: counted.total.already_blocked,
        unknown: counted.total.unknown,
        warn_href: query(
            &["policy"],
            &[("server", server), ("tool", tool), ("mode", "warn")],
        ),
        rows: rows.take(MAX_ROWS).map(preview_row).collect(),
    })
}

fn preview_row(row: &Counted) -> PreviewRow {
    let tool = row.tool.as_deref().unwrap_or_default();
    let rules: Vec<String> = row
        .rules
        .iter()
        .map(|(rule, count)| format!("{rule} ({count})"))
        .collect();
    let first = row.rules.keys().next().map(String::as_str);
    let filter = [
        ("type", "policy_decision"),
        ("server", &row.server),
        ("tool", tool),
        (
            "rule",
            first.filter(|_| row.rules.len() == 1).unwrap_or_default(),
        ),
        ("since", PERIOD),
    ];
    PreviewRow {
        subject: Text::new(format!("{}:{tool}", row.server)),
        href: query(&["activity"], &filter),
        calls: row.counts.calls,
        would_be_blocked: row.counts.would_be_blocked,
        rules: Text::new(rules.join(", ")),
    }
}
