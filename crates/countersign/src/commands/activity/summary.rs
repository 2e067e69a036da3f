//! `countersign activity summary`: how much happened, how it ended, and whose results break their contracts more than usual.

use clap::Args;
use countersign_audit::{GroupBy, Status, Timestamp};
use serde_json::Value;

use super::log::Log;
use super::period::PeriodOption;
use super::{GatewayOption, tool};
use crate::format::FormatOption;
use crate::json::{list, text};
use crate::report::Failure;
use crate::table::table;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity summary
  countersign activity summary --by rule --period 7d
  countersign activity summary --by tool -o json";

/// Count records by server, tool or rule
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What a row is about: server, tool or rule
    #[arg(long, default_value = "server")]
    by: String,
    #[command(flatten)]
    period: PeriodOption,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let by: GroupBy = arguments.by.parse().map_err(Failure::usage)?;
    let period = arguments.period.duration()?;
    let log = Log::from_config(&arguments.gateway.config(console)?)?;
    let pairs = vec![
        ("by", arguments.by.clone()),
        ("period", arguments.period.text().to_owned()),
    ];
    let summary = log.query("activity/summary", &pairs, |reader| {
        reader.summary(by, period, Timestamp::now())
    })?;
    let text = || rendered(&summary, by);
    arguments.format.print(&summary, text, console)
}

fn rendered(summary: &Value, by: GroupBy) -> String {
    let counts = |name: &str| {
        let counts = summary[name].as_object().into_iter().flatten();
        let counts = counts.filter(|(_, count)| **count != 0);
        let words: Vec<String> = counts
            .map(|(word, count)| format!("{word} {count}"))
            .collect();
        words.join(", ")
    };
    let mut text = format!(
        "{} records from {} to {}\n",
        summary["total"],
        text(&summary["since"]),
        text(&summary["until"])
    );
    for name in ["types", "statuses"] {
        text.extend([format!("{name:<9} {}\n", counts(name))]);
    }
    let rows = list(&summary["rows"]);
    if rows.is_empty() {
        return text;
    }
    text.push('\n');
    text.push_str(&match by {
        GroupBy::Rule => rules(rows),
        GroupBy::Server => count_table("server", rows),
        GroupBy::Tool => count_table("tool", rows),
    });
    text
}

fn rules(rows: &[Value]) -> String {
    let rows = rows
        .iter()
        .map(|row| [text(&row["rule"]), row["total"].to_string()]);
    table(&["rule", "records"], rows)
}

fn count_table(name: &str, rows: &[Value]) -> String {
    let statuses = || Status::ALL.iter().map(|status| status.as_str());
    let mut head = vec![name, "records"];
    head.extend(statuses());
    head.extend(["validated", "contract broken", "tokens", ""]);
    let rows = rows.iter().map(|row| {
        let mut cells = vec![tool(row), row["total"].to_string()];
        cells.extend(statuses().map(|status| row["statuses"][status].to_string()));
        let validated = row["validated"].to_string();
        let tokens = row["token_hits"].to_string();
        cells.extend([validated, broken(row), tokens, rising(row)]);
        cells
    });
    table(&head, rows)
}

/// How many results broke their contract, and which share of those validated.
fn broken(row: &Value) -> String {
    let count = &row["contract_rejections"];
    match row["rejection_rate"].as_f64() {
        Some(rate) if rate > 0.0 => format!("{count} ({})", percent(rate)),
        _ => count.to_string(),
    }
}

fn rising(row: &Value) -> String {
    let rate = |name: &str| row["rising"][name].as_f64().map(percent);
    match (rate("last_hour_rate"), rate("trailing_rate")) {
        (Some(now), Some(before)) => {
            format!("rising: {now} in the last hour, {before} in the week before")
        }
        _ => String::new(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_that_gets_worse_is_marked() {
        let statuses = |success, blocked| json!({"success": success, "error": 0, "rejected": 0, "flagged": 0, "rewritten": 0, "blocked": blocked});
        let summary = json!({
            "since": "S", "until": "U", "total": 44, "types": {"tool_call": 40, "policy_decision": 4, "system_start": 0},
            "statuses": statuses(40, 4),
            "rows": [
                {"server": "crm", "total": 24, "statuses": statuses(20, 4), "validated": 20, "contract_rejections": 4,
                 "rejection_rate": 0.2, "token_hits": 0, "rising": {"last_hour_rate": 0.2, "trailing_rate": 0.015}},
                {"server": "files", "total": 20, "statuses": statuses(20, 0), "validated": 0, "contract_rejections": 0, "token_hits": 3},
            ],
        });
        insta::assert_snapshot!(rendered(&summary, GroupBy::Server), @"
        44 records from S to U
        types     policy_decision 4, tool_call 40
        statuses  blocked 4, success 40

        server  records  success  error  rejected  flagged  rewritten  blocked  validated  contract broken  tokens
        crm     24       20       0      0         0        0          4        20         4 (20.0 %)       0       rising: 20.0 % in the last hour, 1.5 % in the week before
        files   20       20       0      0         0        0          0        0          0                3
        ");
        let rules = json!({"rows": [{"rule": "schema.type", "total": 4}]});
        assert!(
            rendered(&rules, GroupBy::Rule).ends_with("\n\nrule         records\nschema.type  4\n")
        );
    }
}
