//! A violation of the contract as every report writes it: where, by which rule, what was done about
//! it and why, how often. Pointers and types, never a value that a server or a person wrote.

use std::collections::BTreeMap;

use countersign_inspect::Finding;
use serde::{Deserialize, Serialize};

use super::identity::{fingerprint, wildcard_positions};
use crate::policy::{AppliedPolicy, PolicySource, SchemaPolicy, Site};

/// Different violations that are kept, at most.
const MOST: usize = 1_000;

/// One violation, however often it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViolationRecord {
    /// The version of this form.
    pub version: u32,
    /// The same for the same place of the same contract, run after run.
    pub fingerprint: String,
    /// The stable identifier of the rule.
    pub rule: String,
    /// The site, by the name overrides use.
    pub site: String,
    /// What was done about it.
    pub policy: SchemaPolicy,
    /// Who said so.
    pub why: PolicySource,
    /// The tool.
    pub tool: String,
    /// SHA-256 of the schema that was violated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_digest: Option<String>,
    /// The keyword's place in the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_pointer: Option<String>,
    /// The place in the instance, with positions in arrays starred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_pointer: Option<String>,
    /// What would have been accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The type that was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// How often.
    pub count: u64,
    /// When it was seen first, in milliseconds since 1970.
    pub first_ms: u64,
    /// When it was seen last.
    pub last_ms: u64,
    /// How to see it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repro: Option<String>,
}

/// The violations of a run, each once.
#[derive(Clone, Debug, Default)]
pub struct Violations {
    kept: BTreeMap<String, ViolationRecord>,
    /// How many of each policy there were, kept or not.
    pub counts: PolicyCounts,
}

/// How many violations each policy was applied to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyCounts {
    /// Counted only.
    pub ignore: u64,
    /// Counted and shown.
    pub warn: u64,
    /// Gating.
    pub fail: u64,
}

/// A violation that just happened.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// The server, as it names itself.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// Where in the contract.
    pub site: Site,
    /// What was found.
    pub findings: &'a [Finding],
    /// What is done about it.
    pub applied: &'a AppliedPolicy,
    /// SHA-256 of the schema.
    pub schema: Option<&'a str>,
    /// When, in milliseconds since 1970.
    pub now_ms: u64,
}

impl Violations {
    /// Counts a violation.
    pub fn add(&mut self, occurrence: &Occurrence<'_>) {
        match occurrence.applied.policy {
            SchemaPolicy::Ignore => self.counts.ignore += 1,
            SchemaPolicy::Warn => self.counts.warn += 1,
            SchemaPolicy::Fail => self.counts.fail += 1,
        }
        let first = occurrence.findings.first();
        let place = first.and_then(|finding| finding.instance_pointer.as_deref());
        let place = place.map(wildcard_positions);
        let keyword = first.and_then(|finding| finding.schema_pointer.clone());
        let identity = format!(
            "{}\0{}\0{}\0{}\0{}",
            occurrence.server,
            occurrence.tool,
            occurrence.site.rule(),
            keyword.as_deref().unwrap_or_default(),
            place.as_deref().unwrap_or_default()
        );
        if let Some(known) = self.kept.get_mut(&identity) {
            known.count += 1;
            known.last_ms = occurrence.now_ms;
            return;
        }
        if self.kept.len() >= MOST {
            return;
        }
        let record = ViolationRecord {
            version: 1,
            fingerprint: fingerprint(&identity),
            rule: occurrence.site.rule().to_owned(),
            site: occurrence.site.name().to_owned(),
            policy: occurrence.applied.policy,
            why: occurrence.applied.why.clone(),
            tool: occurrence.tool.to_owned(),
            schema_digest: occurrence.schema.map(str::to_owned),
            schema_pointer: keyword,
            instance_pointer: place,
            expected: first.and_then(|finding| finding.expected.clone()),
            actual: first.and_then(|finding| finding.actual.clone()),
            count: 1,
            first_ms: occurrence.now_ms,
            last_ms: occurrence.now_ms,
            repro: None,
        };
        self.kept.insert(identity, record);
    }

    /// The records: what gates first, then by how often.
    pub fn records(&self) -> Vec<ViolationRecord> {
        let mut all: Vec<ViolationRecord> = self.kept.values().cloned().collect();
        all.sort_by(|one, other| {
            (other.policy, other.count, &one.tool).cmp(&(one.policy, one.count, &other.tool))
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_fault_is_kept_once() {
        let finding = |pointer: &str| {
            countersign_inspect::Finding::new(
                countersign_inspect::Stage::Contract,
                "schema.type",
                countersign_inspect::Severity::Violation,
            )
            .with_instance_pointer(pointer)
            .with_schema_pointer("/items/type")
        };
        let applied = AppliedPolicy {
            policy: SchemaPolicy::Warn,
            why: PolicySource::Mode,
        };
        let mut all = Violations::default();
        for (pointer, now_ms) in [("/rows/0/id", 5), ("/rows/17/id", 9), ("/other", 11)] {
            all.add(&Occurrence {
                server: "s",
                tool: "t",
                site: Site::Result,
                findings: &[finding(pointer)],
                applied: &applied,
                schema: None,
                now_ms,
            });
        }
        let records = all.records();
        assert_eq!(all.counts.warn, 3);
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].instance_pointer.as_deref(), Some("/rows/*/id"));
        assert_eq!(
            (records[0].count, records[0].first_ms, records[0].last_ms),
            (2, 5, 9)
        );
        assert_eq!(records[0].fingerprint.len(), 32);
    }
}
