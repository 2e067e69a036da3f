//! `countersign tools show`: what the running gateway knows about one tool: what it declared, and whether classifiers see
//! its results and why not.

use anyhow::anyhow;
use clap::Args;
use serde_json::Value;

use crate::commands::whose::Whose;
use crate::format::{Format, FormatOption};
use crate::remote::Remote;
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
pub(super) struct Show {
    /// The tool
    #[arg(value_name = "SERVER:TOOL")]
    tool: String,
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Show, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let Some((server, tool)) = arguments.tool.split_once(':') else {
        let error = anyhow!("'{}' is not a tool's name", arguments.tool);
        return Err(
            Failure::usage(error).hint("write it as SERVER:TOOL; see `countersign tools list`")
        );
    };
    let gateway = match arguments.whose.config(console) {
        Ok(config) => Remote::require(&config)?,
        Err(exit) => return Ok(exit),
    };
    let listed = gateway.get("/api/v1/tools")?.json()?;
    let tools = listed["tools"].as_array().into_iter().flatten();
    let is_it = |one: &&Value| one["server"] == server && one["tool"] == tool;
    let Some(found) = tools.into_iter().find(is_it) else {
        let name = printable(&arguments.tool);
        console.message(format!(
            "there is no tool {name}; see `countersign tools list`\n"
        ));
        return Ok(Exit::No);
    };
    match arguments.format.output {
        Format::Json => console.data(format!("{found}\n"))?,
        Format::Text => console.data(rendered(found))?,
    }
    Ok(Exit::Ok)
}

fn rendered(tool: &Value) -> String {
    let text = |value: &Value| printable(value.as_str().unwrap_or_default());
    let classify = &tool["classify"];
    let names = classify["classifiers"].as_array().into_iter().flatten();
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
    let yes = |value: &Value| if value == true { "yes" } else { "no" };
    let lines = [
        (
            "tool",
            format!("{}:{}", text(&tool["server"]), text(&tool["tool"])),
        ),
        ("on the wire", text(&tool["wire_name"])),
        ("called with", text(&tool["router"])),
        ("output schema", yes(&tool["output_schema"]).to_owned()),
        ("free text", yes(&classify["free_text"]).to_owned()),
        ("classifiers", names),
        (
            "screened",
            format!("{screened}: {}", text(&classify["reason"])),
        ),
    ];
    let lines = lines.map(|(name, value)| format!("{name:<14} {value}\n"));
    lines.concat()
}
