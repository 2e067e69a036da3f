//! `countersign activity list`: records, newest first, a page at a time.

use clap::{Args, ValueEnum};
use countersign_audit::{ExportFormat, Exporter, Query, StoredRecord, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::filter::{Pairs, RecordFilter, TimeRange};
use super::log::Log;
use super::{GatewayOption, tool};
use crate::json::{list, text};
use crate::report::Failure;
use crate::table::table;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity list --type policy_decision
  countersign activity list --status blocked --since 1h -o json
  countersign activity list --server crm --rule schema.type -n 100";

/// List records, newest first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    filter: RecordFilter,
    #[command(flatten)]
    range: TimeRange,
    /// How many at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Go on where a page before ended
    #[arg(long)]
    cursor: Option<String>,
    /// How to print
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        value_enum,
        default_value_t
    )]
    output: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Table,
    /// The page as one object
    Json,
    /// One object a line
    Jsonl,
    /// Comma-separated values with a header line
    Csv,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    // Checked before a gateway is asked, so that a misspelt word is refused in the same words either way.
    let pairs = arguments.pairs();
    let query = Query::from_pairs(pairs.clone(), Timestamp::now()).map_err(Failure::usage)?;
    let log = Log::from_config(&arguments.gateway.config(console)?)?;
    let page = log.list(&query, &pairs)?;
    let records = list(&page["activities"]);
    match arguments.output {
        Format::Table => console.data(rendered(records))?,
        Format::Json => console.json(&page)?,
        Format::Jsonl => records.iter().try_for_each(|record| console.json(record))?,
        Format::Csv => console.data(csv(records)?)?,
    }
    let hinted = matches!(arguments.output, Format::Table | Format::Csv);
    if let (true, Some(cursor)) = (hinted, page["next_cursor"].as_str()) {
        console.message(format!("hint: more with --cursor {cursor}\n"));
    }
    if let Some(unreadable) = page["unreadable"].as_u64() {
        console.message(format!(
            "warning: {unreadable} records cannot be read\nhint: run `countersign activity verify`\n"
        ));
    }
    Ok(Exit::Ok)
}

impl Arguments {
    fn pairs(&self) -> Pairs {
        let mut pairs = self.filter.pairs();
        pairs.extend(self.range.pairs());
        pairs.extend(self.cursor.clone().map(|cursor| ("cursor", cursor)));
        pairs.push(("limit", self.limit.to_string()));
        pairs
    }
}

/// The same rows and columns as an export has.
fn csv(records: &[Value]) -> Result<Vec<u8>, Failure> {
    let write = || -> anyhow::Result<Vec<u8>> {
        let mut rows = Vec::new();
        let mut exporter = Exporter::start(ExportFormat::Csv, &mut rows)?;
        for record in records {
            exporter.write(&StoredRecord::deserialize(record)?)?;
        }
        exporter.finish()?;
        Ok(rows)
    };
    Ok(write()?)
}

fn rendered(records: &[Value]) -> String {
    let rows = records.iter().map(|record| {
        let [id, time, kind, status, caller, reason] =
            ["id", "timestamp", "type", "status", "caller", "reason"]
                .map(|name| text(&record[name]));
        [id, time, kind, status, tool(record), caller, reason]
    });
    table(
        &["id", "time", "type", "status", "tool", "caller", "reason"],
        rows,
    )
}
