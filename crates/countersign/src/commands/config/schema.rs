//! `countersign config schema`: the JSON Schema of the configuration file, for editors.

use anyhow::Context;
use clap::Args;

use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign config schema > mcp_config.schema.json
  countersign config schema > schema.json && countersign schema validate schema.json mcp_config.json";

/// Print the JSON Schema of the configuration file
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {}

pub(super) fn run(_: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let schema = countersign_config::schema();
    let text = serde_json::to_string_pretty(&schema).context("cannot write the schema as JSON")?;
    console.data(text + "\n")?;
    Ok(Exit::Ok)
}
