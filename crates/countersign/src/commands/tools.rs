//! `countersign tools`: the tools behind a running gateway, and a call of one of them by hand, through the same door and
//! the same checks as an agent's.

mod call;
mod show;

use clap::{Args, Subcommand};
use serde_json::Value;

use super::whose::Whose;
use crate::format::FormatOption;
use crate::report::Failure;
use crate::table::table;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign tools list
  countersign tools show stub:conforming
  countersign tools call stub:conforming
  countersign tools call files:read --args '{\"path\": \"notes.txt\"}'

Exit codes of call: 0 a result, 1 an error result, a refusal or a block.";

/// List and call the tools behind the running gateway
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    List(List),
    Show(show::Show),
    Call(call::Call),
}

/// List every tool
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
        Command::List(list) => list.whose.list("tools", &list.format, rendered, console),
        Command::Show(arguments) => show::run(arguments, console),
        Command::Call(arguments) => call::run(arguments, console),
    }
}

fn rendered(tools: &[Value]) -> String {
    let text = |tool: &Value, name: &str| tool[name].as_str().unwrap_or_default().to_owned();
    let rows: Vec<[String; 3]> = tools
        .iter()
        .map(|tool| {
            let schema = if tool["output_schema"] == true {
                "yes"
            } else {
                "no"
            };
            [
                format!("{}:{}", text(tool, "server"), text(tool, "tool")),
                text(tool, "router"),
                schema.to_owned(),
            ]
        })
        .collect();
    table(["tool", "called with", "output schema"], &rows)
}
