//! `countersign activity list`: records, newest first, a page at a time.

use clap::{Args, ValueEnum};
use countersign_audit::{Query, Timestamp};
use serde_json::Value;

use super::{Log, Whose, text, tool};
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
pub(super) struct Arguments {
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    filter: Filter,
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

/// What to list; several values are separated by commas.
#[derive(Debug, Args)]
struct Filter {
    /// What it is about: `tool_call`, `policy_decision`, …
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// How it ended: success, error, rejected, flagged, rewritten, blocked
    #[arg(long)]
    status: Option<String>,
    /// What was decided: allowed, flagged, rewritten, blocked
    #[arg(long)]
    decision: Option<String>,
    /// A stage that found something: transport, shape, guard, contract, …
    #[arg(long)]
    stage: Option<String>,
    /// A rule that found something, such as `schema.type`
    #[arg(long)]
    rule: Option<String>,
    /// The server
    #[arg(long)]
    server: Option<String>,
    /// The tool, by its own name
    #[arg(long)]
    tool: Option<String>,
    /// Not before: `1h`, `7d`, or a time as in RFC 3339
    #[arg(long)]
    since: Option<String>,
    /// Before: `1h`, `7d`, or a time as in RFC 3339
    #[arg(long)]
    until: Option<String>,
    /// The client's request id
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Table,
    /// The page as one object
    Json,
    /// One object a line
    Jsonl,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    // Checked before anybody is asked, so that a misspelt word is refused in the same words either way.
    let pairs = arguments.pairs();
    let query = Query::from_pairs(
        pairs.iter().map(|(key, value)| (key, value)),
        Timestamp::now(),
    );
    let query = query.map_err(Failure::usage)?;
    let log = match arguments.whose.config(console) {
        Ok(config) => Log::of(&config)?,
        Err(exit) => return Ok(exit),
    };
    let page = log.list(&query, &pairs)?;
    let records = page["activities"].as_array().cloned().unwrap_or_default();
    match arguments.output {
        Format::Table => console.data(rendered(&records))?,
        Format::Json => console.data(format!("{page}\n"))?,
        Format::Jsonl => {
            for record in &records {
                console.data(format!("{record}\n"))?;
            }
        }
    }
    if let (Format::Table, Some(cursor)) = (arguments.output, page["next_cursor"].as_str()) {
        console.message(format!("hint: more with --cursor {cursor}\n"));
    }
    Ok(Exit::Ok)
}

impl Arguments {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        let filter = &self.filter;
        let given = [
            ("type", &filter.kind),
            ("status", &filter.status),
            ("decision", &filter.decision),
            ("stage", &filter.stage),
            ("rule", &filter.rule),
            ("server", &filter.server),
            ("tool", &filter.tool),
            ("since", &filter.since),
            ("until", &filter.until),
            ("request_id", &filter.request_id),
            ("cursor", &self.cursor),
        ];
        let given = given
            .into_iter()
            .filter_map(|(key, value)| Some((key, value.clone()?)));
        given.chain([("limit", self.limit.to_string())]).collect()
    }
}

fn rendered(records: &[Value]) -> String {
    let rows: Vec<[String; 6]> = records
        .iter()
        .map(|record| {
            [
                text(record, "id"),
                text(record, "timestamp"),
                text(record, "type"),
                text(record, "status"),
                tool(record),
                text(record, "reason"),
            ]
        })
        .collect();
    table(["id", "time", "type", "status", "tool", "reason"], &rows)
}
