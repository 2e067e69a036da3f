//! `countersign activity show`: one record in full: tool, mode, and what was found where.

use anyhow::anyhow;
use clap::Args;
use countersign_audit::Ulid;
use serde_json::Value;

use super::log::Log;
use super::{Whose, tool};
use crate::format::{Format, FormatOption};
use crate::report::{self, Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity show 01K9ZJ3M5T0000000000000000
  countersign activity show 01K9ZJ3M5T0000000000000000 -o json

Exit codes: 0 found, 1 no such record.";

/// Show one record in full
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The record's id
    id: Ulid,
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let log = match arguments.whose.config(console) {
        Ok(config) => Log::of(&config)?,
        Err(exit) => return Ok(exit),
    };
    let Some(record) = log.show(arguments.id)? else {
        let missing = Failure::usage(anyhow!("there is no record {}", arguments.id));
        report::failure(&missing.hint("see `countersign activity list`"), console);
        return Ok(Exit::No);
    };
    match arguments.format.output {
        Format::Json => console.data(format!("{record}\n"))?,
        Format::Text => console.data(rendered(&record))?,
    }
    Ok(Exit::Ok)
}

/// A line a member, the findings below.
fn rendered(record: &Value) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        text.extend([&format!("{name:<18} "), printable(value).as_str(), "\n"]);
    };
    line("tool", &tool(record));
    let members = record.as_object().into_iter().flatten();
    for (name, value) in
        members.filter(|(name, _)| !matches!(name.as_str(), "server" | "tool" | "findings"))
    {
        match value {
            Value::String(value) => line(name, value),
            Value::Object(_) | Value::Array(_) => line(name, &value.to_string()),
            other => line(name, &other.to_string()),
        }
    }
    for finding in record["findings"].as_array().into_iter().flatten() {
        let part = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        line(
            "finding",
            &format!("{} {} ({})", part("stage"), part("rule"), part("severity")),
        );
        for name in [
            "instance_pointer",
            "schema_pointer",
            "expected",
            "actual",
            "detail",
        ] {
            if finding[name].is_string() {
                line(&format!("  {name}"), &part(name));
            }
        }
        // Where in a text, and what was done: enough to judge a hit without the text.
        for (name, value) in finding["hit"].as_object().into_iter().flatten() {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            if !value.is_empty() {
                line(&format!("  {name}"), &value);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::rendered;

    #[test]
    fn a_hit_in_a_text_says_where_and_what_was_done() {
        let hit = json!({"carrier": "text", "block": 0, "class": "", "count": 2, "offsets": [1, 9], "action": "removed"});
        let finding =
            json!({"stage": "sanitise", "rule": "ansi", "severity": "violation", "hit": hit});
        insta::assert_snapshot!(rendered(&json!({"server": "s", "tool": "t", "findings": [finding]})), @"
        tool               s:t
        finding            sanitise ansi (violation)
          action           removed
          block            0
          carrier          text
          count            2
          offsets          [1,9]
        ");
    }

    #[test]
    fn a_record_reads_top_to_bottom() {
        let record = json!({
            "id": "01", "type": "policy_decision", "server": "stub", "tool": "bad_output", "mode": "strict",
            "seq": 7, "findings": [{"stage": "contract", "rule": "schema.type", "severity": "violation", "expected": "integer"}],
        });
        insta::assert_snapshot!(rendered(&record), @"
        tool               stub:bad_output
        id                 01
        mode               strict
        seq                7
        type               policy_decision
        finding            contract schema.type (violation)
          expected         integer
        ");
    }
}
