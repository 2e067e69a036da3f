//! `countersign servers`: how the servers behind a running gateway are, and how much of what they declare can be enforced.

mod logs;

use clap::Subcommand;
use serde_json::Value;

use super::gateway_option::ListArguments;
use crate::json::{list, unquoted};
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
    /// List the servers: state, tools, how many of their schemas can be enforced, and why one fails
    #[command(after_help = EXAMPLES)]
    List(ListArguments),
    Logs(logs::Logs),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::List(arguments) => arguments.run("servers", rendered, console),
        Command::Logs(logs) => logs::run(logs, console),
    }
}

fn rendered(servers: &[Value]) -> String {
    let rows = servers.iter().map(|server| {
        // A gateway that was started before an update has no `state`.
        let has_state = server["state"].is_string();
        let state = if has_state { "state" } else { "health" };
        ["name", state, "tools", "output_schemas", "enforceable"]
            .map(|name| unquoted(&server[name]))
    });
    let head = ["server", "state", "tools", "output schemas", "enforceable"];
    let mut text = table(&head, rows);
    for line in servers.iter().flat_map(notes_below_table) {
        text.push_str(&printable(&line));
        text.push('\n');
    }
    text
}

/// The lines about a server below the table.
fn notes_below_table(server: &Value) -> Vec<String> {
    let name = unquoted(&server["name"]);
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
    for odd in list(&server["unenforceable"]) {
        let (tool, reason) = (unquoted(&odd["tool"]), unquoted(&odd["reason"]));
        lines.push(format!("{name}:{tool}: unenforceable: {reason}"));
    }
    lines
}
