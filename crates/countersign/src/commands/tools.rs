//! `countersign tools`: the tools behind a running gateway, and a call of one of them by hand, through the same door and
//! the same checks as an agent's.

mod show;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::whose::Whose;
use crate::format::FormatOption;
use crate::remote::Remote;
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
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(List),
    Show(show::Show),
    Call(Call),
}

/// List every tool
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
struct List {
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    format: FormatOption,
}

/// Call a tool and print its result
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
struct Call {
    /// The tool
    #[arg(value_name = "SERVER:TOOL")]
    tool: String,
    /// Its arguments, as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    #[command(flatten)]
    whose: Whose,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::List(list) => list.whose.list("tools", &list.format, rendered, console),
        Command::Show(arguments) => show::run(arguments, console),
        Command::Call(arguments) => call(arguments, console),
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

fn call(arguments: &Call, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let Some((server, tool)) = arguments.tool.split_once(':') else {
        let error = anyhow!("'{}' is not a tool's name", arguments.tool);
        return Err(
            Failure::usage(error).hint("write it as SERVER:TOOL; see `countersign tools list`")
        );
    };
    let given: Value = serde_json::from_str(&arguments.args)
        .map_err(|error| Failure::usage(anyhow!(error).context("--args is not JSON")))?;
    if !given.is_object() {
        return Err(Failure::usage(anyhow!("--args is not a JSON object")));
    }
    let gateway = match arguments.whose.config(console) {
        Ok(config) => Remote::require(&config)?,
        Err(exit) => return Ok(exit),
    };
    // The arguments go as they were typed: a number keeps its digits.
    let name = serde_json::to_string(tool).map_err(anyhow::Error::from)?;
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{name},"arguments":{}}}}}"#,
        arguments.args
    );
    let answer = gateway.post(&format!("/mcp/s/{server}"), message.as_bytes())?;
    if answer.status == 404 {
        let error = anyhow!("the gateway has no server '{server}'");
        return Err(Failure::usage(error).hint("see `countersign servers list`"));
    }
    let value = answer.json()?;
    console.data([&answer.body[..], b"\n"].concat())?;
    let failed = value.get("result").is_none() || value["result"]["isError"] == true;
    Ok(if failed { Exit::No } else { Exit::Ok })
}
