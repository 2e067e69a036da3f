//! What a comparison came to, as it is written down.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::body::Difference;
use crate::report::{Figures, TestedServer, Verdict};

/// What a comparison came to. Times are milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// The version of this form.
    pub version: u32,
    /// The server, directly.
    pub direct: Leg,
    /// The same server, through something.
    pub through: Leg,
    /// By how much a call through took longer than the same call directly.
    pub delta: Delta,
    /// Calls whose two answers could be compared, by how they differ.
    pub bodies: Bodies,
    /// The first differences of each kind.
    pub examples: Vec<Example>,
    /// Calls that did not come to the same both ways.
    pub verdicts_differ: u64,
    /// Answers that kept their contract directly and broke it on the way.
    pub gateway_changed: u64,
    /// Remarks for the reader of the report.
    pub notes: Vec<String>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// One of the two ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leg {
    /// The server as it showed itself.
    pub server: TestedServer,
    /// How its calls ended.
    pub outcomes: BTreeMap<String, u64>,
    /// How long they took.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Differences of paired service times, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Delta {
    /// How many pairs.
    pub pairs: u64,
    /// The mean.
    pub mean_ms: f64,
    /// Half of the pairs differ by no more.
    pub p50_ms: f64,
    /// 90 % of the pairs differ by no more.
    pub p90_ms: f64,
    /// 99 % of the pairs differ by no more.
    pub p99_ms: f64,
}

/// Answers by how the two ways differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bodies {
    /// Byte for byte the same.
    pub same: u64,
    /// The same but for white space between tokens.
    pub spaced: u64,
    /// The same members in another order.
    pub reordered: u64,
    /// Numbers written otherwise, or rounded.
    pub renumbered: u64,
    /// Something else.
    pub changed: u64,
    /// Of tools that answer differently each time.
    pub varying: u64,
}

/// A difference between two answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The tool.
    pub tool: String,
    /// How the answers differ.
    pub difference: Difference,
    /// Which members of the result do.
    pub members: Vec<String>,
}
