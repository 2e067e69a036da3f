//! `countersign activity hours`: how much happened in each hour. What the charts of the console are drawn from.

use clap::Args;
use countersign_audit::Timestamp;
use serde_json::{Value, json};

use super::GatewayOption;
use super::log::Log;
use super::period::PeriodOption;
use crate::format::FormatOption;
use crate::json::{list, text};
use crate::report::Failure;
use crate::table::table;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity hours
  countersign activity hours --period 7d -o json";

/// Columns of a table: what is counted, and where the number is.
const COUNTED: [(&str, &str); 6] = [
    ("types", "tool_call"),
    ("statuses", "blocked"),
    ("statuses", "flagged"),
    ("statuses", "rewritten"),
    ("statuses", "error"),
    ("statuses", "rejected"),
];

/// Count records by hour
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    period: PeriodOption,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let period = arguments.period.duration()?;
    let log = Log::from_config(&arguments.gateway.config(console)?)?;
    let pairs = vec![("period", arguments.period.text().to_owned())];
    let hours = log.query("activity/hours", &pairs, |reader| {
        let hours = reader.hours(period, Timestamp::now())?;
        Ok(json!({ "hours": hours }))
    })?;
    let text = || rendered(&hours);
    arguments.format.print(&hours, text, console)
}

/// The hours in which something happened.
fn rendered(hours: &Value) -> String {
    let rows = list(&hours["hours"]).iter().map(|hour| {
        let counts = COUNTED.map(|(by, word)| hour[by][word].as_u64().unwrap_or(0).to_string());
        let mut cells = vec![text(&hour["since"])];
        cells.extend(counts);
        cells
    });
    let rows = rows.filter(|cells| cells.iter().skip(1).any(|count| count != "0"));
    let mut head = vec!["hour from"];
    head.extend(COUNTED.map(|(_, word)| word));
    table(&head, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_without_anything_are_left_out() {
        let hours = json!({"hours": [
            {"since": "2026-01-01T00:00:00.000Z", "types": {}, "statuses": {}},
            {"since": "2026-01-01T01:00:00.000Z", "types": {"tool_call": 3}, "statuses": {"success": 2, "error": 1, "blocked": 1}},
        ]});
        insta::assert_snapshot!(rendered(&hours), @"
        hour from                 tool_call  blocked  flagged  rewritten  error  rejected
        2026-01-01T01:00:00.000Z  3          1        0        0          1      0
        ");
    }
}
