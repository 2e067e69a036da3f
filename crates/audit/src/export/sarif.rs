//! Findings as SARIF 2.1.0, so that a code-scanning tool can show them: one result per finding, located by server and tool.
//!
//! The results are streamed; the rules met are listed after them, which the format allows.

use std::collections::BTreeSet;
use std::io::{self, Write};

use countersign_inspect::describe_rule;
use serde::Serialize;
use serde_json::{Value, json};

use crate::record::{Decision, Finding, Mode, Severity};
use crate::store::StoredRecord;

/// Rules listed at most. A result names its rule even if the rule is not listed.
const MAX_RULES: usize = 10_000;

/// Where to read on about any rule.
const HELP: &str = "docs/reference/activity.md says what records of findings mean.";
const HELP_URI: &str = concat!(
    env!("CARGO_PKG_REPOSITORY"),
    "/blob/main/docs/reference/activity.md"
);

/// One SARIF run being written.
#[derive(Debug)]
pub(super) struct Run {
    rules: BTreeSet<String>,
    first: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    rule_id: &'a str,
    level: &'static str,
    message: Message<'a>,
    locations: [Location<'a>; 1],
    partial_fingerprints: Fingerprints,
    properties: Properties<'a>,
}

#[derive(Serialize)]
struct Message<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    logical_locations: [LogicalLocation<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'a> {
    name: &'a str,
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "countersign/v1")]
    finding: String,
}

#[derive(Serialize)]
struct Properties<'a> {
    record: String,
    timestamp: String,
    decision: Option<Decision>,
    mode: Option<Mode>,
    #[serde(flatten)]
    finding: &'a Finding,
}

impl Run {
    pub(super) fn start(out: &mut dyn Write) -> io::Result<Self> {
        out.write_all(
            b"{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\"results\":[",
        )?;
        Ok(Self {
            rules: BTreeSet::new(),
            first: true,
        })
    }

    pub(super) fn record(&mut self, out: &mut dyn Write, stored: &StoredRecord) -> io::Result<()> {
        for finding in &stored.record.findings {
            out.write_all(if self.first { b"\n" } else { b",\n" })?;
            self.first = false;
            serde_json::to_writer(&mut *out, &outcome(stored, finding))?;
            if self.rules.len() < MAX_RULES && !self.rules.contains(finding.rule.as_ref()) {
                self.rules.insert(finding.rule.to_string());
            }
        }
        Ok(())
    }

    pub(super) fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        let rules: Vec<Value> = self.rules.iter().map(|rule| describe(rule)).collect();
        let driver = json!({
            "name": "countersign",
            "version": env!("CARGO_PKG_VERSION"),
            "informationUri": env!("CARGO_PKG_REPOSITORY"),
            "rules": rules,
        });
        let details = json!({ "id": "countersign/activity/" });
        write!(out, "\n],\"tool\":{{\"driver\":{driver}}}")?;
        writeln!(out, ",\"automationDetails\":{details}}}]}}")
    }
}

/// A rule with every text that code scanning shows. The texts are fixed; the name of the rule selects one.
fn describe(rule: &str) -> Value {
    let text = describe_rule(rule);
    json!({
        "id": rule,
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {"text": format!("{text}. {HELP}")},
        "helpUri": HELP_URI,
    })
}

fn outcome<'a>(stored: &'a StoredRecord, finding: &'a Finding) -> Outcome<'a> {
    let record = &stored.record;
    let tool = record.tool.as_deref().unwrap_or_default();
    let server = record.server.as_deref().unwrap_or_default();
    let full = format!("{server}:{tool}");
    let place = finding.instance_pointer.as_deref().unwrap_or_default();
    Outcome {
        rule_id: &finding.rule,
        level: match finding.severity {
            Severity::Info => "note",
            Severity::Violation => "warning",
            Severity::Attack => "error",
        },
        message: Message {
            text: record.reason.as_deref().unwrap_or(&finding.rule),
        },
        partial_fingerprints: Fingerprints {
            finding: format!("{full}/{}{place}", finding.rule),
        },
        locations: [Location {
            logical_locations: [LogicalLocation {
                name: if tool.is_empty() { server } else { tool },
                fully_qualified_name: full,
                kind: "function",
            }],
        }],
        properties: Properties {
            record: record.id().to_string(),
            timestamp: record.timestamp.to_string(),
            decision: record.decision(),
            mode: record.mode,
            finding,
        },
    }
}
