//! A scenario: calls that are made one after the other, and how often it is chosen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::feeder::Feeder;
use super::template::Template;

/// Calls made one after the other by whoever takes this scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is called in reports.
    pub name: String,
    /// How often it is chosen, beside the others' weights.
    pub weight: u32,
    /// Values for its arguments.
    pub feeder: Option<Feeder>,
    /// The calls.
    pub calls: Vec<Call>,
}

/// One call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Template,
    /// What it should come to.
    pub expect: Expect,
    /// Values to take from its result, by JSON pointer into the `result` object.
    pub take: BTreeMap<String, String>,
}

/// What a call should come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// A result without `isError`.
    #[default]
    Ok,
    /// An `isError` result.
    Error,
    /// A refusal by a gateway in between.
    Deny,
}

impl Expect {
    /// The word used in plans.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Deny => "deny",
        }
    }
}
