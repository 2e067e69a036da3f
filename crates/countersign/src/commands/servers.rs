//! `countersign servers`: how the servers behind a running gateway are, and how much of what they declare can be enforced.

mod logs;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::whose::Whose;
use crate::format::FormatOption;
use crate::report::{Failure, printable};
use crate::table::table;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign servers list
  countersign servers list -o json
  countersign servers logs files";

/// See the servers behind the running gateway
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    List(List),
    Logs(logs::Logs),
}

/// List the servers: state, tools, how many of their schemas can be enforced, and why one fails
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    format: FormatOption,
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::List(list) => list.whose.list("servers", &list.format, rendered, console),
        Command::Logs(logs) => logs::run(logs, console),
    }
}

fn rendered(servers: &[Value]) -> String {
    let rows: Vec<[String; 5]> = servers
        .iter()
        .map(|server| {
            // A gateway that was started before an update has no `state`.
            let has_state = server["state"].is_string();
            let state = if has_state { "state" } else { "health" };
            ["name", state, "tools", "output_schemas", "enforceable"].map(|name| cell(server, name))
        })
        .collect();
    let mut text = table(
        ["server", "state", "tools", "output schemas", "enforceable"],
        &rows,
    );
    for line in servers.iter().flat_map(remarks) {
        text.push_str(&printable(&line));
        text.push('\n');
    }
    text
}

fn cell(server: &Value, name: &str) -> String {
    match &server[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What there is to say about a server below the table.
fn remarks(server: &Value) -> Vec<String> {
    let name = cell(server, "name");
    let mut lines = Vec::new();
    if let Some(reason) = server["reason"].as_str() {
        let next = server["next_try"].as_str();
        let next = next.map(|next| format!("; next try at {next}"));
        lines.push(format!("{name}: {reason}{}", next.unwrap_or_default()));
    }
    if let (Some("failing"), Some(line)) = (
        server["state"].as_str(),
        server["last_stderr_line"].as_str(),
    ) {
        lines.push(format!("{name}: stderr: {line}"));
    }
    for odd in server["unenforceable"].as_array().into_iter().flatten() {
        let (tool, reason) = (cell(odd, "tool"), cell(odd, "reason"));
        lines.push(format!("{name}:{tool}: unenforceable: {reason}"));
    }
    lines
}
