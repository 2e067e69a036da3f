//! `countersign servers`: how the servers behind a running gateway are, how much of what they declare can be enforced, and
//! changes of them.

mod add;
mod change;
mod logs;

use clap::Subcommand;
use countersign_config::ServerChange;
use serde_json::Value;

use self::change::NamedServer;
use super::gateway_option::ListArguments;
use crate::json::{list, unquoted};
use crate::report::{Failure, printable};
use crate::table::table;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign servers list
  countersign servers list -o json
  countersign servers logs files
  countersign servers add weather --url https://weather.example/mcp
  countersign servers restart files";

const REMOVE: &str = "\
Examples:
  countersign servers remove weather

It is removed from the configuration file with all its settings. A running gateway gives it no new calls and ends it after
the last call under way.
Exit codes: 0 removed, 1 there is no such server, 2 refused and nothing changed, 3 the running gateway cannot be asked.";

const SWITCH: &str = "\
Examples:
  countersign servers disable weather
  countersign servers enable weather

A disabled server stays in the configuration file. A running gateway gives it no new calls and ends it after the last call
under way.
Exit codes: 0 done, 1 there is no such server, 2 refused and nothing changed, 3 the running gateway cannot be asked.";

const RESTART: &str = "\
Examples:
  countersign servers restart files

New calls go to the new process or connection at once; the old one ends after the last call under way. The configuration
file stays as it is.
Exit codes: 0 restarted, 1 there is no such server, 2 it is disabled, 3 no gateway is running.";

/// See and change the servers behind the running gateway
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// List the servers: state, tools, how many of their schemas can be enforced, and why one fails
    #[command(after_help = EXAMPLES)]
    List(ListArguments),
    Logs(logs::Logs),
    Add(add::Add),
    /// Remove a server from the configuration file, and end it in the running gateway
    #[command(after_help = REMOVE)]
    Remove(NamedServer),
    /// Use a disabled server again
    #[command(after_help = SWITCH)]
    Enable(NamedServer),
    /// Keep a server in the configuration file and use it no more
    #[command(after_help = SWITCH)]
    Disable(NamedServer),
    /// Start a server of the running gateway anew
    #[command(after_help = RESTART)]
    Restart(NamedServer),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::List(arguments) => arguments.run("servers", rendered, console),
        Command::Logs(logs) => logs::run(logs, console),
        Command::Add(add) => add::run(add, console),
        Command::Remove(NamedServer { name, change }) => {
            change.make(&ServerChange::Remove(name.clone()), "removed", console)
        }
        Command::Enable(NamedServer { name, change }) => {
            change.make(&ServerChange::Enable(name.clone()), "enabled", console)
        }
        Command::Disable(NamedServer { name, change }) => {
            change.make(&ServerChange::Disable(name.clone()), "disabled", console)
        }
        Command::Restart(NamedServer { name, change }) => change.restart(name, console),
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
