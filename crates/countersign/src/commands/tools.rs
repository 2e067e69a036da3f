//! `countersign tools`: the tools behind a running gateway, and a call of one of them by hand, with the same
//! checks as an agent's call.

mod call;
mod show;

use anyhow::anyhow;
use clap::Subcommand;
use serde_json::Value;

use super::gateway_option::ListArguments;
use crate::json::text;
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
    /// List every tool
    #[command(after_help = EXAMPLES)]
    List(ListArguments),
    Show(show::Show),
    Call(call::Call),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::List(arguments) => arguments.run("tools", rendered, console),
        Command::Show(arguments) => show::run(arguments, console),
        Command::Call(arguments) => call::run(arguments, console),
    }
}

fn rendered(tools: &[Value]) -> String {
    let rows = tools.iter().map(|tool| {
        [
            format!("{}:{}", text(&tool["server"]), text(&tool["tool"])),
            text(&tool["router"]),
            yes_or_no(&tool["output_schema"]).to_owned(),
        ]
    });
    table(&["tool", "called with", "output schema"], rows)
}

fn yes_or_no(value: &Value) -> &'static str {
    if value == true { "yes" } else { "no" }
}

/// The server and the tool that `SERVER:TOOL` names.
fn split_name(name: &str) -> Result<(&str, &str), Failure> {
    name.split_once(':').ok_or_else(|| {
        Failure::usage(anyhow!("'{name}' is not a tool's name"))
            .hint("write it as SERVER:TOOL; see `countersign tools list`")
    })
}
