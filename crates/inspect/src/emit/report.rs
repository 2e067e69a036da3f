//! A verdict as a machine reads it: the JSON of `countersign inspect`. No value of the result
//! is in it.

use serde::Serialize;

use crate::digest::Digest;
use crate::emit::inspected::Inspected;
use crate::verdict::{Decision, Finding, Mode};

/// A verdict without the bytes it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What was decided.
    pub decision: Decision,
    /// The mode in force.
    pub mode: Mode,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What was judged.
    pub structured_content: StructuredContent,
    /// Units of work the schema cost.
    pub fuel_used: u64,
}

/// What can be said about a value without showing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StructuredContent {
    /// Whether the result has the member.
    pub present: bool,
    /// Its length as received.
    pub bytes: u64,
    /// SHA-256 of its bytes as received.
    pub sha256: Option<Digest>,
}

impl From<&Inspected> for Report {
    fn from(inspected: &Inspected) -> Self {
        let structured = inspected.structured_digest();
        Self {
            decision: inspected.decision(),
            mode: inspected.mode(),
            findings: inspected.findings().to_vec(),
            structured_content: StructuredContent {
                present: structured.is_some(),
                bytes: structured.map_or(0, |(bytes, _)| bytes),
                sha256: structured.map(|(_, digest)| digest),
            },
            fuel_used: inspected.fuel_used(),
        }
    }
}
