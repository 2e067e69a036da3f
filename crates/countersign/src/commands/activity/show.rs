//! `countersign activity show`: one record in full: why first, then tool and mode, and what was found where. The record is
//! named by its id or by the beginning of one that no other record has.

use anyhow::anyhow;
use clap::Args;
use countersign_audit::{Query, Timestamp, Ulid};
use serde_json::Value;

use super::log::Log;
use super::{GatewayOption, tool};
use crate::format::FormatOption;
use crate::json::{list, text, unquoted};
use crate::report::{self, Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign activity show 01K9ZJ3M5T0000000000000000
  countersign activity show 01K9ZJ3M5T -o json     the beginning is enough if only one id begins so

Exit codes: 0 found, 1 no such record, 2 several ids begin so.";
/// The least that is taken for the beginning of an id. Shorter ones stand for weeks of records and more.
const SHORTEST: usize = 4;
/// Members that are shown first, in this order.
const FIRST: [&str; 4] = ["reason", "decision", "status", "mode"];

/// Show one record in full
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The record's id, or at least 4 characters of its beginning
    id: String,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let id = Name::parse(&arguments.id)?;
    let log = Log::from_config(&arguments.gateway.config(console)?)?;
    let id = id.find(&log)?;
    let found = id.map(|id| log.show(id)).transpose()?;
    let Some(record) = found.flatten() else {
        let missing = Failure::usage(anyhow!("there is no record {}", arguments.id));
        report::failure(&missing.hint("see `countersign activity list`"), console);
        return Ok(Exit::No);
    };
    let text = || rendered(&record);
    arguments.format.print(&record, text, console)
}

/// How a record is named on the command line.
pub(super) enum Name {
    Whole(Ulid),
    /// The first characters of an id, as ids are written.
    Beginning(String),
}

impl Name {
    /// The id; nothing if no record's id begins like this.
    pub(super) fn find(self, log: &Log) -> Result<Option<Ulid>, Failure> {
        match self {
            Self::Whole(id) => Ok(Some(id)),
            Self::Beginning(prefix) => by_prefix(log, &prefix),
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let whole = text.parse::<Ulid>();
        if let Ok(id) = whole {
            return Ok(Self::Whole(id));
        }
        let prefix = text.to_ascii_uppercase();
        if prefix.len() >= SHORTEST && Self::filled(&prefix, '0').is_ok() {
            return Ok(Self::Beginning(prefix));
        }
        whole.map(Self::Whole).map_err(|error| {
            Failure::usage(error).hint("see `countersign activity list`; 4 characters or more of an id's beginning are enough")
        })
    }

    /// The id that begins like this and goes on with the same character to its end.
    fn filled(prefix: &str, character: char) -> Result<Ulid, countersign_audit::NotAUlid> {
        let missing = 26_usize.saturating_sub(prefix.len());
        let rest = std::iter::repeat_n(character, missing);
        prefix.chars().chain(rest).collect::<String>().parse()
    }
}

/// The only id of a record that begins like this. Looks where the time in the ids says, so a record that was written after
/// the clock was set back is found by its whole id only.
fn by_prefix(log: &Log, prefix: &str) -> Result<Option<Ulid>, Failure> {
    let first = Name::filled(prefix, '0').map_err(Failure::usage)?;
    let last = Name::filled(prefix, 'Z').map_err(Failure::usage)?;
    let end = Timestamp::from_millis(last.timestamp().as_millis() + 1);
    let mut found: Option<Ulid> = None;
    let mut cursor: Option<String> = None;
    loop {
        let mut pairs = vec![
            ("since", first.timestamp().to_string()),
            ("until", end.to_string()),
            ("limit", "100".to_owned()),
        ];
        pairs.extend(cursor.map(|cursor| ("cursor", cursor)));
        let query = Query::from_pairs(pairs.clone(), Timestamp::now()).map_err(Failure::usage)?;
        let page = log.list(&query, &pairs)?;
        let records = list(&page["activities"]).iter();
        let ids = records.filter_map(|record| record["id"].as_str());
        for id in ids.filter(|id| id.starts_with(prefix)) {
            if found.replace(id.parse().map_err(Failure::usage)?).is_some() {
                let error = anyhow!("several records have an id that begins with {prefix}");
                return Err(Failure::usage(error).hint("write more of the id"));
            }
        }
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(found);
        }
    }
}

/// A line for each member, the reason of the decision first, the findings last.
fn rendered(record: &Value) -> String {
    let mut lines = String::new();
    let mut line = |name: &str, value: &str| {
        lines.extend([&format!("{name:<18} "), printable(value).as_str(), "\n"]);
    };
    for name in FIRST {
        if let Some(value) = record[name].as_str() {
            line(name, value);
        }
        if name == "reason" {
            line("tool", &tool(record));
        }
    }
    let members = record.as_object().into_iter().flatten();
    let is_shown =
        |name: &str| FIRST.contains(&name) || matches!(name, "server" | "tool" | "findings");
    for (name, value) in members.filter(|(name, _)| !is_shown(name)) {
        line(name, &unquoted(value));
    }
    for finding in list(&record["findings"]) {
        let [stage, rule, severity] =
            ["stage", "rule", "severity"].map(|name| text(&finding[name]));
        line("finding", &format!("{stage} {rule} ({severity})"));
        for name in [
            "instance_pointer",
            "schema_pointer",
            "expected",
            "actual",
            "detail",
        ] {
            if let Some(value) = finding[name].as_str() {
                line(&format!("  {name}"), value);
            }
        }
        // Where in a text, and what was done: enough to judge a hit without the text.
        for (name, value) in finding["hit"].as_object().into_iter().flatten() {
            let value = unquoted(value);
            if !value.is_empty() {
                line(&format!("  {name}"), &value);
            }
        }
    }
    lines
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
            "id": "01", "type": "policy_decision", "reason": "why", "decision": "blocked", "status": "blocked", "server": "stub", "tool": "bad_output", "mode": "strict",
            "seq": 7, "findings": [{"stage": "contract", "rule": "schema.type", "severity": "violation", "expected": "integer"}],
        });
        insta::assert_snapshot!(rendered(&record), @"
        reason             why
        tool               stub:bad_output
        decision           blocked
        status             blocked
        mode               strict
        id                 01
        seq                7
        type               policy_decision
        finding            contract schema.type (violation)
          expected         integer
        ");
    }
}
