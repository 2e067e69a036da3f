//! The report of a run: the tools, the findings, and what a reader needs to trust them. It is the
//! JSON that every other report is made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::oracle::Family;
use super::super::record::Record;
use super::super::safety::SafetyRefusal;
use crate::policy::SchemaPolicy;

/// What became of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolRun {
    /// Its name.
    pub name: String,
    /// Why it was not called, if it was not.
    pub refused: Option<SafetyRefusal>,
    /// Cases by pass.
    pub cases: BTreeMap<String, u64>,
    /// How the valid cases were answered: results.
    pub succeeded: u64,
    /// How the valid cases were answered: `isError`.
    pub errored: u64,
    /// Cases that were meant to be refused and were.
    pub rejected: u64,
    /// What could not be made or was left out.
    pub notes: Vec<String>,
    /// SHA-256 over its declared schemas.
    pub schema_digest: String,
}

/// What became of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What the server calls itself.
    pub server: String,
    /// The version it says it has.
    pub server_version: String,
    /// The protocol version agreed on.
    pub protocol: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// The SDK it is built with, as its answers show it.
    pub family: Family,
    /// Whether violations gate.
    pub strict: bool,
    /// The seed of the random passes.
    pub seed: u64,
    /// Calls made, shrinking included.
    pub calls: u64,
    /// How often the server was started again.
    pub restarts: u32,
    /// Its tools.
    pub tools: Vec<ToolRun>,
    /// What was found, in the order of finding.
    pub findings: Vec<Record>,
    /// Cases whose label was wrong: mistakes of the tester.
    pub tester_bugs: Vec<String>,
    /// Overrides that match no tool.
    pub unmatched_overrides: Vec<String>,
    /// Whether no valid call of any tool had a result, so that nothing was tested. False for a
    /// run of one given case.
    #[serde(default)]
    pub is_unexercised: bool,
    /// Violations that a policy ignores, and violations beyond the most that are kept.
    pub ignored: u64,
}

impl Run {
    /// Findings that are treated this way.
    pub fn count(&self, policy: SchemaPolicy) -> usize {
        let findings = self.findings.iter();
        findings.filter(|record| record.policy == policy).count()
    }

    /// Findings that are more than counted.
    pub(crate) fn reported(&self) -> impl Iterator<Item = &Record> {
        let findings = self.findings.iter();
        findings.filter(|record| record.policy != SchemaPolicy::Ignore)
    }

    /// Whether there were tools and none of them might be called.
    pub fn is_refused(&self) -> bool {
        !self.tools.is_empty() && self.tools.iter().all(|tool| tool.refused.is_some())
    }
}
