//! `countersign tools show`: what the running gateway knows about one tool: what its server declared, the mode that holds
//! for its results and which key sets it, whether its schema can be enforced, and whether classifiers see its results.

use clap::Args;
use serde_json::Value;

use super::{split_name, yes_or_no};
use crate::commands::activity::url_encoded;
use crate::commands::gateway_option::GatewayOption;
use crate::format::FormatOption;
use crate::json::list;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign tools show stub:conforming
  countersign tools show files:read -o json

Exit codes: 0 there is such a tool, 1 there is none.";

/// Show what is known about one tool
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The tool
    #[arg(value_name = "SERVER:TOOL")]
    tool: String,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Show, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let (server, tool) = split_name(&arguments.tool)?;
    let gateway = arguments.gateway.remote(console)?;
    let name = format!("{}:{}", url_encoded(server), url_encoded(tool));
    let answer = gateway.get(&format!("/api/v1/tools/{name}"))?;
    if answer.status == 404 {
        let name = printable(&arguments.tool);
        console.message(format!(
            "there is no tool {name}; see `countersign tools list`\n"
        ));
        return Ok(Exit::No);
    }
    let found = answer.json()?;
    let text = || rendered(&found);
    arguments.format.print(&found, text, console)
}

/// One line for each short fact, and the description and the schemas below their names.
fn rendered(tool: &Value) -> String {
    let declaration = &tool["declaration"];
    let name = format!("{}:{}", text(&tool["server"]), text(&tool["tool"]));
    [
        line("tool", &name),
        line("on the wire", &text(&tool["wire_name"])),
        line("called with", &text(&tool["router"])),
        validation(&tool["output_validation"]),
        screening(&tool["classify"]),
        described(&declaration["description"]),
        schema("input schema", &declaration["inputSchema"]),
        schema("output schema", &declaration["outputSchema"]),
    ]
    .concat()
}

fn line(name: &str, value: &str) -> String {
    format!("{name:<14} {value}\n")
}

/// Text of the gateway or of a server, safe for a terminal and on one line.
fn text(value: &Value) -> String {
    printable(value.as_str().unwrap_or_default())
}

/// The mode with the key that sets it, and whether the schema can be enforced.
fn validation(validation: &Value) -> String {
    let set_by = match validation["key"].as_str() {
        Some(key) => format!("set by {}", printable(key)),
        None => "the default".to_owned(),
    };
    let mode = format!("{}, {set_by}", text(&validation["mode"]));
    let enforceable = yes_or_no(&validation["enforceable"]);
    let enforceable = format!("{enforceable}: {}", text(&validation["reason"]));
    line("mode", &mode) + &line("enforceable", &enforceable)
}

fn screening(classify: &Value) -> String {
    let names = list(&classify["classifiers"]).iter();
    let names: Vec<String> = names.map(text).collect();
    let names = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    let screened = match classify["screened"].as_str() {
        Some("always") => "yes",
        Some("beyond_schema") => "only beyond the schema",
        _ => "no",
    };
    let screened = format!("{screened}: {}", text(&classify["reason"]));
    line("free text", yes_or_no(&classify["free_text"]))
        + &line("classifiers", &names)
        + &line("screened", &screened)
}

/// The description, line by line.
fn described(description: &Value) -> String {
    match description.as_str() {
        None | Some("") => line("description", "none"),
        Some(text) => indented_block("description", text),
    }
}

fn schema(name: &str, schema: &Value) -> String {
    if schema.is_null() {
        return line(name, "none");
    }
    indented_block(name, &format!("{schema:#}"))
}

fn indented_block(name: &str, lines: &str) -> String {
    let lines = lines.lines().map(|line| format!("  {}\n", printable(line)));
    format!("{name}\n{}", lines.collect::<String>())
}
