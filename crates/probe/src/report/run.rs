//! A load run as data: everything that any report shows. Written as JSON, read back to be rendered
//! again, compared or merged. Times are milliseconds, rates are per second.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::figures::Figures;
use super::violation::{PolicyCounts, ViolationRecord};
use crate::client::Client;
use crate::policy::SchemaPolicy;

/// The version of the form of [`Run`].
pub const VERSION: u32 = 1;

/// A load run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The version of this form.
    pub version: u32,
    /// When it began, in milliseconds since 1970.
    pub began_ms: u64,
    /// The server.
    pub server: TestedServer,
    /// What was asked for.
    pub plan: RunPlan,
    /// What was done before the clock started.
    pub setup: Setup,
    /// How it ended.
    pub ended: RunEnd,
    /// How long calls were counted, in seconds.
    pub measured_s: f64,
    /// Starts and what became of them.
    pub counters: Counters,
    /// Why the figures are not those of the server, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturated: Option<String>,
    /// All calls together.
    pub all: ToolRun,
    /// By tool.
    pub tools: Vec<ToolRun>,
    /// Over time.
    pub timeline: Vec<TimelinePoint>,
    /// What broke the contract.
    pub violations: Vec<ViolationRecord>,
    /// How many violations each policy was applied to.
    pub policies: PolicyCounts,
    /// The thresholds and whether they hold.
    pub thresholds: Vec<ThresholdResult>,
    /// Remarks for the reader of the report.
    pub notes: Vec<String>,
    /// What it comes to.
    pub verdict: Verdict,
}

impl Run {
    /// The violations that are more than counted.
    pub(crate) fn reported(&self) -> impl Iterator<Item = &ViolationRecord> {
        let violations = self.violations.iter();
        violations.filter(|one| one.policy != SchemaPolicy::Ignore)
    }
}

/// The server that was tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedServer {
    /// As the plan names it, without secrets.
    pub target: String,
    /// As it names itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// `legacy` or `modern`.
    pub era: String,
    /// The protocol version.
    pub protocol: String,
}

impl TestedServer {
    /// The server that a client is connected to. `target` is what is printed as its address.
    pub(crate) fn new(target: &str, client: &Client) -> Self {
        Self {
            target: target.to_owned(),
            name: client.identity().name.clone(),
            version: client.identity().version.clone(),
            transport: client.transport().to_owned(),
            era: client.era().as_str().to_owned(),
            protocol: client.version().to_owned(),
        }
    }
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// In words.
    pub executor: String,
    /// How long starts went on, in seconds.
    pub duration_s: f64,
    /// What was not counted at the start, in seconds.
    pub warm_up_s: f64,
    /// The seed of every random choice.
    pub seed: u64,
    /// Whether violations gate.
    pub strict: bool,
    /// How many of them are tolerated.
    pub max_violations: u64,
}

/// What was done before the clock started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Sessions, or processes over stdio.
    pub sessions: u64,
    /// How long making them took, in seconds.
    pub seconds: f64,
    /// Tools listed.
    pub tools: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// As planned.
    Finished,
    /// The person who started it stopped it.
    Interrupted,
    /// A threshold that ends the run did not hold.
    Aborted,
}

/// Starts and what became of them, after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Starts that were due.
    pub offered: u64,
    /// Starts that were made.
    pub started: u64,
    /// Calls that ended; a scenario may make several.
    pub completed: u64,
    /// Starts that were not made because too many calls were in flight.
    pub dropped: u64,
    /// Starts made more than a millisecond after they were due.
    pub late: u64,
    /// Scenarios still under way when the run was over.
    pub abandoned: u64,
    /// Calls of the warm-up, which nothing else here counts.
    pub warm_up: u64,
    /// Calls that were not validated because validation could not keep up.
    pub unvalidated: u64,
    /// Starts due per second.
    pub offered_rate: f64,
    /// Starts made per second.
    pub achieved_rate: f64,
}

/// The calls of one tool, or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolRun {
    /// The tool; empty for all.
    pub tool: String,
    /// How many calls ended.
    pub calls: u64,
    /// How many did not come to what was expected of them.
    pub unexpected: u64,
    /// How they ended.
    pub outcomes: BTreeMap<String, u64>,
    /// How long they took.
    #[serde(flatten)]
    pub figures: Figures,
}

impl ToolRun {
    /// How many calls ended in this way.
    pub fn outcome(&self, name: &str) -> u64 {
        self.outcomes.get(name).copied().unwrap_or_default()
    }

    /// Whether the tool was tested: false if it was called and no call came to what was expected.
    pub fn is_exercised(&self) -> bool {
        self.calls == 0 || self.unexpected < self.calls
    }

    /// Why the run says nothing about the tool, with how its calls ended.
    pub fn why_unexercised(&self) -> String {
        let ends = self.outcomes.iter();
        let ends: Vec<String> = ends.map(|(end, count)| format!("{count} {end}")).collect();
        format!(
            "no call of {:?} came to what was expected: {}",
            self.tool,
            ends.join(", ")
        )
    }
}

/// One interval of the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelinePoint {
    /// When it began, in seconds from the start.
    pub at_s: f64,
    /// Calls that ended in it.
    pub done: u64,
    /// Calls that did not come to what was expected.
    pub unexpected: u64,
    /// Median response time.
    pub p50_ms: f64,
    /// 99th percentile of the response time.
    pub p99_ms: f64,
    /// The longest response time.
    pub max_ms: f64,
}

/// A threshold and whether it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdResult {
    /// The metric.
    pub name: String,
    /// What it had to be.
    pub bound: String,
    /// What it was, as a person would write it.
    pub measured: String,
    /// Whether it holds.
    pub holds: bool,
}

/// The exit code of a run and its reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The exit code.
    pub exit: u8,
    /// Why, if it is not 0.
    pub reasons: Vec<String>,
}
