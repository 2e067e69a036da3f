//! The plan as it is written: every key, none resolved. Unknown keys are errors.

use std::collections::BTreeMap;
use std::path::PathBuf;

use countersign_inspect::Era;
use serde::Deserialize;

use super::Format;
use super::feeder::Order;
use super::scenario::Expect;
use super::schedule::Processes;
use super::units::PlanDuration;
use crate::policy::Validation;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    pub(super) server: Server,
    #[serde(default)]
    pub(super) validation: Validation,
    #[serde(default)]
    pub(super) load: Load,
    #[serde(default)]
    pub(super) scenario: Vec<Scenario>,
    #[serde(default)]
    pub(super) thresholds: BTreeMap<String, Limit>,
    #[serde(default)]
    pub(super) output: BTreeMap<Format, PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Server {
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) working_dir: Option<PathBuf>,
    pub(super) url: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) era: Option<Era>,
    pub(super) max_message_bytes: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Load {
    pub(super) executor: ExecutorName,
    pub(super) shape: Option<ShapeName>,
    pub(super) rate: Option<f64>,
    pub(super) duration: Option<PlanDuration>,
    pub(super) stages: Vec<RawStage>,
    pub(super) burst: Option<u32>,
    pub(super) every: Option<PlanDuration>,
    pub(super) vus: Option<u32>,
    pub(super) think_time: Option<PlanDuration>,
    pub(super) warm_up: Option<PlanDuration>,
    pub(super) timeout: Option<PlanDuration>,
    pub(super) drain: Option<PlanDuration>,
    pub(super) max_in_flight: Option<u32>,
    pub(super) concurrency: Option<u32>,
    pub(super) connections: Option<u32>,
    pub(super) stdio: Option<Processes>,
    pub(super) sessions: Option<u32>,
    pub(super) seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum ExecutorName {
    #[default]
    Rate,
    Vus,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum ShapeName {
    Constant,
    Stages,
    Poisson,
    Burst,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStage {
    pub(super) duration: PlanDuration,
    pub(super) rate: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Scenario {
    pub(super) name: Option<String>,
    pub(super) weight: Option<u32>,
    pub(super) feeder: Option<RawFeeder>,
    pub(super) tool: Option<String>,
    pub(super) arguments: Option<toml::Value>,
    pub(super) arguments_json: Option<String>,
    pub(super) expect: Option<Expect>,
    pub(super) take: BTreeMap<String, String>,
    pub(super) call: Vec<Call>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Option<toml::Value>,
    pub(super) arguments_json: Option<String>,
    pub(super) expect: Option<Expect>,
    #[serde(default)]
    pub(super) take: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFeeder {
    pub(super) file: PathBuf,
    #[serde(default)]
    pub(super) order: Order,
}

/// A threshold: a bound, or a bound and whether it ends the run.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Limit {
    Plain(String),
    Full {
        limit: String,
        #[serde(default)]
        abort_on_fail: bool,
    },
}
