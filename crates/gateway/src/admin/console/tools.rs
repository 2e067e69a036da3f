//! The tools as pages.

use countersign_console::{Fact, Nav, Text, ToolPage, ToolRow, Tools, href, query};
use serde_json::Value;

use super::super::tools::{self, ToolInfo};
use super::PageResult;
use super::visit::Visit;

/// So many tools are listed at once; a search finds the others.
const MAX_ROWS: usize = 500;

/// All tools, or those whose name or server has what is searched for.
pub(super) fn list(visit: &Visit<'_>) -> String {
    let search = visit.parameter("q");
    let found = tools::all(visit.snapshot);
    let found = found.filter(|tool| tool.tool.contains(search) || tool.server.contains(search));
    let mut rows: Vec<ToolRow> = found.map(|tool| row(&tool)).collect();
    let left_out = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    Tools {
        frame: visit.frame(Nav::Tools, None),
        search: search.to_owned(),
        rows,
        left_out,
    }
    .html()
}

/// One tool.
pub(super) fn page(visit: &Visit<'_>, name: &str) -> PageResult {
    let (info, declaration) = tools::one(visit.snapshot, name)?;
    let (server, tool) = (("server", &*info.server), ("tool", &*info.tool));
    Ok(ToolPage {
        frame: visit.frame(Nav::Tools, None),
        tool: row(&info),
        facts: facts(&info),
        declaration: Text::new(indented(&declaration)),
        activity: query(&["activity"], &[server, tool]),
        policy: query(&["policy"], &[server, tool, ("mode", "strict")]),
    }
    .html())
}

pub(super) fn row(info: &ToolInfo) -> ToolRow {
    ToolRow {
        server: Text::new(info.server.as_str()),
        tool: Text::new(info.tool.as_str()),
        href: href(&["tools", &format!("{}:{}", info.server, info.tool)]),
        mode: info.output_validation.mode,
        source: info.output_validation.source.to_owned(),
        is_enforceable: info.output_validation.enforceable,
        reason: Text::new(info.output_validation.reason.as_str()),
    }
}

fn facts(info: &ToolInfo) -> Vec<Fact> {
    let mode = &info.output_validation;
    let key = mode.key.clone().unwrap_or_else(|| "the default".to_owned());
    let word = |member: &str| {
        let value = info.classify.get(member);
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let has_free_text = info.classify.get("free_text") == Some(&Value::Bool(true));
    let schema = if info.output_schema {
        "declared"
    } else {
        "not declared"
    };
    let free_text = if has_free_text { "yes" } else { "no" };
    vec![
        Fact::new("mode", mode.mode),
        Fact::new("set by", key),
        Fact::new("output schema", schema),
        Fact::new("enforceable", if mode.enforceable { "yes" } else { "no" }),
        Fact::new("generation of the contract", info.generation.to_string()),
        Fact::new("name towards clients", info.wire_name.as_str()),
        Fact::new("router", info.router),
        Fact::new("carries free text", free_text),
        Fact::new("screened by classifiers", word("screened")),
        Fact::new("because", word("reason")),
    ]
}

/// A declaration with line breaks. One that cannot be read is shown as it is.
fn indented(declaration: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(declaration).ok();
    let text = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    text.unwrap_or_else(|| String::from_utf8_lossy(declaration).into_owned())
}
