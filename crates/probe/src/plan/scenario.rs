//! A scenario: calls that are made one after the other, and how often it is chosen.

use std::collections::BTreeMap;

use countersign_inspect::word_enum;

use super::feeder::Feeder;
use super::template::Template;

/// Calls that a user of this scenario makes one after the other.
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

word_enum! {
    /// What a call should come to.
    #[derive(Default)]
    pub enum Expect {
        /// A result without `isError`.
        #[default]
        Ok = "ok",
        /// An `isError` result.
        Error = "error",
        /// A refusal by a gateway in between.
        Deny = "deny",
    }
}
