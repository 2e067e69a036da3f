//! `countersign contract diff`: two tool lists, and what a client that relied on the old one would trip over.

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_probe::contract::diff::{Change, Impact, diff};
use serde_json::Value;

use crate::format::FormatOption;
use crate::report::{Failure, printable};
use crate::source::Source;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign contract diff old-tools.json new-tools.json
  countersign contract diff -o json old-tools.json - < new-tools.json

A list is an array of tools, a tools/list result, or the whole response.

Exit codes: 0 nothing breaks, 1 something may break, 2 a list cannot be read.";

/// Compare two tool lists: what may break who relied on the old one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The tool list as it was
    #[arg(value_name = "OLD")]
    old: Source,
    /// The tool list as it is
    #[arg(value_name = "NEW")]
    new: Source,
    #[command(flatten)]
    format: FormatOption,
}

fn line(change: &Change) -> String {
    let impact = match change.impact {
        Impact::Breaking => "breaking",
        Impact::Compatible => "compatible",
    };
    let (tool, pointer) = (printable(&change.tool), printable(&change.pointer));
    format!("{impact:<10} {tool}{pointer}: {}\n", change.what)
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    Source::stdin_at_most_once([&arguments.old, &arguments.new])?;
    let old = list(&arguments.old, console)?;
    let new = list(&arguments.new, console)?;
    let mut changes = diff(&old, &new).map_err(|why| Failure::usage(anyhow!(why)))?;
    changes.sort_by(|a, b| (b.impact, &a.tool, &a.pointer).cmp(&(a.impact, &b.tool, &b.pointer)));
    for change in &changes {
        arguments.format.print(change, || line(change), console)?;
    }
    let breaks = changes
        .iter()
        .any(|change| change.impact == Impact::Breaking);
    Ok(Exit::answer(!breaks))
}

fn list(source: &Source, console: &mut Console<'_>) -> Result<Value, Failure> {
    let bytes = source.read(console)?;
    let parsed =
        serde_json::from_slice(&bytes).with_context(|| format!("'{}' is not JSON", source.name()));
    parsed.map_err(Failure::usage)
}
