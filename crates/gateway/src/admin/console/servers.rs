//! The servers as pages.

use countersign_console::{
    Fact, Nav, NewServer, ServerPage, ServerRow, Servers, Text, href, query,
};
use percent_encoding::percent_decode_str;

use super::super::servers::{self, ServerInfo};
use super::PageResult;
use super::activity::moment;
use super::visit::Visit;

/// Characters of a version in the list; its page has all.
const COLUMN: usize = 40;

/// All servers.
pub(super) fn list(visit: &Visit<'_>) -> String {
    list_with(visit, NewServer::default())
}

/// All servers, and what was typed about one that could not be added.
pub(super) fn list_with(visit: &Visit<'_>, mut new_server: NewServer) -> String {
    let all = servers::all(visit.services, visit.snapshot);
    new_server.allows_commands = visit.snapshot.settings.config.allow_api_commands;
    let events = query(&["events"], &[("type", "server_change,tool_call")]);
    Servers {
        frame: visit.frame(Nav::Servers, Some(events)),
        rows: all.iter().map(row).collect(),
        new_server,
    }
    .html()
}

/// One server.
pub(super) fn page(visit: &Visit<'_>, name: &str) -> PageResult {
    let name = percent_decode_str(name).decode_utf8_lossy();
    let info = servers::one(visit.services, visit.snapshot, &name)?;
    let lines = servers::lines(visit.snapshot, &name)?;
    let unenforceable = info.unenforceable.iter();
    let events = query(&["events"], &[("server", &name)]);
    Ok(ServerPage {
        frame: visit.frame(Nav::Servers, Some(events)),
        server: row(&info),
        facts: facts(visit, &info),
        unenforceable: unenforceable
            .map(|one| (Text::new(one.tool.as_str()), Text::new(one.reason.as_str())))
            .collect(),
        lines: lines.into_iter().map(Text::new).collect(),
        activity: query(&["activity"], &[("server", &name)]),
        changes: match info.state {
            "disabled" => vec![("enable", "Enable")],
            _ => vec![("restart", "Restart"), ("disable", "Disable")],
        },
    }
    .html())
}

fn row(info: &ServerInfo) -> ServerRow {
    ServerRow {
        name: Text::new(info.name.as_str()),
        href: href(&["servers", &info.name]),
        state: info.state,
        reason: info.reason.as_deref().map(Text::new),
        protocol: protocol(info),
        implementation: short(implementation(info)),
        starts: info.starts,
        tools: info.tools,
        tools_href: query(&["tools"], &[("q", &info.name)]),
        enforceable: format!("{} of {}", info.enforceable, info.output_schemas),
        latency: latency(info),
    }
}

fn facts(visit: &Visit<'_>, info: &ServerInfo) -> Vec<Fact> {
    let next = info.next_try.map(|next| moment(next, visit.now).exact);
    let mut facts = vec![
        Fact::new("protocol", protocol(info)),
        Fact::new("calls itself", implementation(info)),
        Fact::new("tools", format!("{}, {}", info.tools, info.list))
            .linked(query(&["tools"], &[("q", &info.name)])),
        Fact::new(
            "schemas enforced",
            format!("{} of {}", info.enforceable, info.output_schemas),
        ),
        Fact::new("calls take at most", latency(info)),
        Fact::new("started or connected to", times(info.starts)),
    ];
    facts.extend(next.map(|next| Fact::new("tried again at", next)));
    facts.retain(|fact| !fact.value.is_empty());
    facts
}

fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        _ => format!("{number} times"),
    }
}

/// How the server is reached and which version it speaks, once it has been greeted.
fn protocol(info: &ServerInfo) -> String {
    let connection = info.connection.as_ref();
    let words =
        connection.map(|one| format!("{}, {} ({})", one.transport, one.era, one.protocol_version));
    words.unwrap_or_default()
}

/// What the server calls itself, and its version.
fn implementation(info: &ServerInfo) -> Text {
    let connection = info.connection.as_ref();
    Text::new(connection.map_or("", |one| &one.implementation))
}

/// As much of a text as fits a column.
fn short(text: Text) -> Text {
    let mut chars = text.raw().chars();
    let start: String = chars.by_ref().take(COLUMN).collect();
    match chars.next() {
        Some(_) => Text::new(format!("{start}…")),
        None => text,
    }
}

/// How long half of the calls and nearly all of them take at most, as far as the histogram knows.
fn latency(info: &ServerInfo) -> String {
    let Some(latency) = info.latency else {
        return String::new();
    };
    let within = |bound: Option<f64>| match bound {
        Some(millis) => format!("{millis} ms"),
        None => "longer".to_owned(),
    };
    format!(
        "half {}, 95 % {}",
        within(latency.p50_ms),
        within(latency.p95_ms)
    )
}
