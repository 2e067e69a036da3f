//! `countersign servers`: how the servers behind a running gateway are, and how much of what they declare can be enforced.

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
  countersign servers list -o json";

/// See the servers behind the running gateway
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(List),
}

/// List the servers: health, tools, and how many of their schemas can be enforced
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
struct List {
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    format: FormatOption,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let Command::List(list) = &arguments.command;
    list.whose.list("servers", &list.format, rendered, console)
}

fn rendered(servers: &[Value]) -> String {
    let cell = |server: &Value, name: &str| match &server[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let rows: Vec<[String; 5]> = servers
        .iter()
        .map(|server| {
            ["name", "health", "tools", "output_schemas", "enforceable"]
                .map(|name| cell(server, name))
        })
        .collect();
    let mut text = table(
        ["server", "health", "tools", "output schemas", "enforceable"],
        &rows,
    );
    for server in servers {
        if let Some(reason) = server["reason"].as_str() {
            let line = format!("{}: {reason}", cell(server, "name"));
            text.push_str(&printable(&line));
            text.push('\n');
        }
        for odd in server["unenforceable"].as_array().into_iter().flatten() {
            let (tool, reason) = (cell(odd, "tool"), cell(odd, "reason"));
            let line = format!("{}:{tool}: unenforceable: {reason}", cell(server, "name"));
            text.push_str(&printable(&line));
            text.push('\n');
        }
    }
    text
}
