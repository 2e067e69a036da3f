//! `countersign policy preview`: what strict mode would have blocked of the calls that were recorded. Asks the running
//! gateway, or reads the store where none runs.

use clap::Args;
use countersign_audit::Timestamp;
use countersign_gateway::{PreviewQuery, preview};
use serde_json::Value;

use crate::commands::activity::{Log, Pairs, given_pairs, tool};
use crate::commands::gateway_option::GatewayOption;
use crate::format::FormatOption;
use crate::json::list;
use crate::report::{Failure, printable};
use crate::table::table;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign policy preview --mode strict --since 7d
  countersign policy preview --server crm --since 24h
  countersign policy preview --last 1000
  countersign policy preview -o json | jq .would_be_blocked

What counts is what the records say was found, under the limits that held when each call was made.
What strict mode does about it follows the configuration that holds now, with nothing but
output_validation.mode replaced: missing_structured_content and uncompilable_schema are respected.
Calls made in mode off were not checked, so nothing is known about them: set warn first.
Arguments are not looked at: input_validation has a mode of its own.

Records written before there was a preview do not say that structured content was missing, that a
schema did not compile, or that a member name carried an attack; such calls count as not blocked.";

/// List what strict mode would block, per tool, from recorded calls
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The mode to look ahead to; only strict blocks because of a contract
    #[arg(long, default_value = "strict")]
    mode: String,
    /// Calls not before: `24h`, `7d`, or a time as in RFC 3339
    #[arg(long, default_value = "7d")]
    since: String,
    /// Calls before: `1h`, or a time as in RFC 3339
    #[arg(long)]
    until: Option<String>,
    /// Only this server; several are separated by commas
    #[arg(long)]
    server: Option<String>,
    /// Only this tool, by its own name
    #[arg(long)]
    tool: Option<String>,
    /// No more than this number of the newest calls, up to 10000
    #[arg(long, value_name = "CALLS")]
    last: Option<String>,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    // Checked before a gateway is asked, so that a misspelt word is refused in the same words either way.
    let pairs = arguments.pairs();
    let query = PreviewQuery::from_pairs(pairs.clone(), Timestamp::now());
    let query = query.map_err(|why| Failure::usage(anyhow::anyhow!(why)))?;
    let config = arguments.gateway.config(console)?;
    let log = Log::from_config(&config)?;
    let preview = log.query("policy/preview", &pairs, |reader| {
        preview(&config, reader, &query)
    })?;
    let text = || rendered(&preview);
    arguments.format.print(&preview, text, console)
}

impl Arguments {
    fn pairs(&self) -> Pairs {
        let mut pairs = vec![("mode", self.mode.clone()), ("since", self.since.clone())];
        pairs.extend(given_pairs([
            ("until", &self.until),
            ("server", &self.server),
            ("tool", &self.tool),
            ("last", &self.last),
        ]));
        pairs
    }
}

fn rendered(preview: &Value) -> String {
    let rows = list(&preview["rows"]);
    let left_out = match preview["left_out"].as_u64() {
        Some(records) => {
            format!("\n{records} records are of tools without a row; name a --server.\n")
        }
        None => String::new(),
    };
    [headline(preview), blocked(rows), unknown(rows), left_out].concat()
}

fn headline(preview: &Value) -> String {
    let since = preview["since"].as_str().unwrap_or_default();
    if preview["calls"] == 0 {
        return format!("No calls are recorded since {since}.\n");
    }
    let last = match &preview["last"] {
        last if *last == preview["calls"] => "the last ",
        _ => "",
    };
    format!(
        "strict would block {} of {last}{} calls recorded since {since}; {} of them were blocked anyway.\n",
        preview["would_be_blocked"], preview["calls"], preview["already_blocked"],
    )
}

/// The tools of which something would be blocked.
fn blocked(rows: &[Value]) -> String {
    let rows = rows.iter().filter(|row| row["would_be_blocked"] != 0);
    let mut rows = rows.map(columns).peekable();
    if rows.peek().is_none() {
        return String::new();
    }
    let head = [
        "tool",
        "calls",
        "would be blocked",
        "blocked anyway",
        "because of",
    ];
    format!("\n{}", table(&head, rows))
}

/// The tools of which some calls were not checked.
fn unknown(rows: &[Value]) -> String {
    let rows = rows.iter().filter(|row| row["unknown"] != 0);
    let line = |row| {
        printable(&format!(
            "  {}: {} calls",
            tool_and_type(row),
            row["unknown"]
        ))
    };
    let lines: Vec<String> = rows.map(line).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "\nNot known, because these calls were made in mode off, which checks nothing:\n{}\n\
         Set \"output_validation\": {{\"mode\": \"warn\"}} for them first.\n",
        lines.join("\n")
    )
}

fn columns(row: &Value) -> [String; 5] {
    let rules = row["rules"].as_object().into_iter().flatten();
    let rules: Vec<String> = rules
        .map(|(rule, count)| format!("{rule} {count}"))
        .collect();
    [
        tool_and_type(row),
        row["calls"].to_string(),
        row["would_be_blocked"].to_string(),
        row["already_blocked"].to_string(),
        rules.join(", "),
    ]
}

/// The tool, or what else the server was asked for.
fn tool_and_type(row: &Value) -> String {
    match row["type"].as_str() {
        Some("tool_call") | None => tool(row),
        Some(kind) => format!("{} ({kind})", tool(row)),
    }
}
