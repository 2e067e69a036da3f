//! A finding as it is written down: one JSON line with rule, place, types and how to see it
//! again. Messages and values of the server are not in it; the arguments of the reproducer are
//! the tester's own, except for what it learnt from results.

use countersign_inspect::word_enum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::oracle::Rule;
use crate::policy::{AppliedPolicy, Date, PolicySource, SchemaPolicy, Site, Validation};
use crate::report::wildcard_positions;

/// The version of the records' form.
pub const VERSION: u32 = 1;

word_enum! {
    /// The pass a case belongs to.
    #[derive(PartialOrd, Ord)]
    pub enum Pass {
        /// What is declared, before anything is called.
        Declaration = "declaration",
        /// The enumerated cases.
        Coverage = "coverage",
        /// Random valid arguments.
        Random = "random",
        /// Arguments with values from earlier results.
        Stateful = "stateful",
        /// Random valid arguments with one mistake.
        Negative = "negative",
    }
}

impl Pass {
    /// Whether the pass asks the same every time, so that silence proves a fix.
    pub const fn is_repeatable(self) -> bool {
        matches!(self, Self::Declaration | Self::Coverage)
    }
}

/// A requirement that a server broke: a row of the policy table, or a rule of the oracles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    Site(Site),
    Rule(&'static Rule),
}

impl Requirement {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Site(site) => site.rule(),
            Self::Rule(rule) => rule.id,
        }
    }

    pub(crate) fn site(self) -> &'static str {
        match self {
            Self::Site(site) => site.name(),
            Self::Rule(_) => "call",
        }
    }

    pub(crate) fn apply(self, tool: &str, validation: &Validation, today: Date) -> AppliedPolicy {
        match self {
            // Told apart already; the findings have nothing to add.
            Self::Site(site) => validation.apply(tool, site, &[], today),
            Self::Rule(rule) => AppliedPolicy {
                policy: if validation.strict {
                    rule.strict
                } else {
                    rule.lenient
                },
                why: PolicySource::Mode,
            },
        }
    }
}

/// One problem seen in one answer or declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) requirement: Requirement,
    pub(crate) keyword_location: Option<String>,
    pub(crate) instance_pointer: Option<String>,
    pub(crate) expected: Option<String>,
    pub(crate) actual: Option<String>,
    pub(crate) detail: Option<String>,
}

impl Observation {
    pub(crate) fn from_site(site: Site) -> Self {
        Self::new(Requirement::Site(site))
    }

    pub(crate) fn from_rule(rule: &'static Rule) -> Self {
        Self::new(Requirement::Rule(rule)).detail(rule.description)
    }

    fn new(requirement: Requirement) -> Self {
        Self {
            requirement,
            keyword_location: None,
            instance_pointer: None,
            expected: None,
            actual: None,
            detail: None,
        }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// What makes two observations the same finding.
    pub(crate) fn key(&self) -> Key {
        Key {
            rule: self.requirement.id(),
            keyword_location: self.keyword_location.clone().unwrap_or_default(),
            instance_pointer: wildcard_positions(
                self.instance_pointer.as_deref().unwrap_or_default(),
            ),
        }
    }
}

/// The identity of a finding within a tool: no values, no messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) rule: &'static str,
    pub(crate) keyword_location: String,
    pub(crate) instance_pointer: String,
}

/// A finding of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of this form.
    pub version: u32,
    /// What makes it the same finding in another run.
    pub fingerprint: String,
    /// The rule that was broken.
    pub rule: String,
    /// The site of the contract, as overrides name it; `call` for what is not about a schema.
    pub site: String,
    /// What is done about it.
    pub policy: SchemaPolicy,
    /// Who said so.
    pub why: PolicySource,
    /// The tool; empty for what is about the server.
    pub tool: String,
    /// The protocol version agreed on.
    pub protocol: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// SHA-256 over the tool's declared schemas.
    pub schema_digest: String,
    /// Where in the schema, as a pointer.
    pub keyword_location: Option<String>,
    /// Where in the value, as a pointer.
    pub instance_pointer: Option<String>,
    /// What would have been right, in types.
    pub expected: Option<String>,
    /// The type that was there.
    pub actual: Option<String>,
    /// One sentence.
    pub detail: Option<String>,
    /// The pass that found it.
    pub pass: Pass,
    /// The case that found it.
    pub case: String,
    /// How often it was seen.
    pub count: u64,
    /// When it was first seen, in milliseconds since 1970.
    pub first_ms: u64,
    /// When it was last seen.
    pub last_ms: u64,
    /// The id of a request that showed it.
    pub request_id: Option<String>,
    /// The smallest arguments that showed it.
    pub arguments: Option<Value>,
    /// A command that shows it again.
    pub reproducer: Option<String>,
}

impl Record {
    /// The finding in one line, for a person.
    pub fn line(&self) -> String {
        let place = match (&self.keyword_location, &self.instance_pointer) {
            (_, Some(pointer)) if !pointer.is_empty() => format!(" at {pointer}"),
            (Some(location), _) if !location.is_empty() => format!(" by {location}"),
            _ => String::new(),
        };
        let tool = if self.tool.is_empty() {
            "(server)"
        } else {
            &self.tool
        };
        let types = match (&self.expected, &self.actual) {
            (Some(expected), Some(actual)) => format!(": expected {expected}, got {actual}"),
            _ => self
                .detail
                .as_ref()
                .map(|detail| format!(": {detail}"))
                .unwrap_or_default(),
        };
        format!("{} {tool} {}{place}{types}", self.policy, self.rule)
    }
}
