//! The plan file: server, validation, load, scenarios, thresholds, output. Read strictly: what is
//! misspelt is an error with the nearest word, and everything is resolved before a byte is sent.
//! Whether the plan can be kept is found out by running it, not here.

mod explain;
mod feeder;
mod hint;
mod raw;
mod resolve;
mod scenario;
mod schedule;
mod subject;
mod template;
mod threshold;
mod units;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::client::{Options, SiteError, Target};
use crate::policy::Validation;
use crate::random::Random;
use crate::report::write_string;

pub use crate::report::Format;
pub use feeder::{Feeder, FeederError, Order, Row};
pub use scenario::{Call, Expect, Scenario};
pub use schedule::{Executor, Load, Processes, Shape, Stage};
pub use subject::TestSubject;
pub use template::{TakenValues, Template, TemplateError};
pub use threshold::{Bound, Metric, Statistic, Threshold, ThresholdError, Timing};

/// A plan larger than this is not one.
const MOST_BYTES: u64 = 16 << 20;

/// What a run is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where the server is.
    pub target: Target,
    /// What is printed as the server: never a secret.
    pub shown: String,
    /// What the client asks of it.
    pub options: Options,
    /// Whether and how violations gate.
    pub validation: Validation,
    /// When calls start.
    pub load: Load,
    /// Which calls.
    pub scenarios: Vec<Scenario>,
    /// What must hold at the end.
    pub thresholds: Vec<Threshold>,
    /// Reports to write, by format.
    pub output: BTreeMap<Format, PathBuf>,
}

/// Why there is no plan.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The file cannot be read.
    #[error("{path} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is not TOML, or has a key or value that means nothing.
    #[error("{message}")]
    Syntax {
        /// Where and what, with the line.
        message: String,
        /// The word that was probably meant.
        nearest: Option<String>,
    },
    /// A setting contradicts another or lacks one.
    #[error("{key}: {problem}")]
    Setting {
        /// The key's path.
        key: String,
        /// What is wrong.
        problem: String,
    },
    /// A `${env:NAME}` reference names a variable that is not set.
    #[error("{key}: the environment variable {name} is not set")]
    Environment {
        /// The key's path.
        key: String,
        /// The variable.
        name: String,
    },
    /// The server's address cannot be used.
    #[error("server.url cannot be used")]
    Target(#[from] SiteError),
    /// The arguments of a call cannot be used.
    #[error("the arguments of a call cannot be used")]
    Template(#[from] TemplateError),
    /// A feeder cannot be used.
    #[error("a feeder cannot be used")]
    Feeder(#[from] FeederError),
    /// A threshold cannot be read.
    #[error("a threshold cannot be read")]
    Threshold(#[from] ThresholdError),
}

impl PlanError {
    /// The word that was probably meant.
    pub fn nearest(&self) -> Option<&str> {
        match self {
            Self::Syntax { nearest, .. } => nearest.as_deref(),
            Self::Threshold(error) => error.nearest.as_deref(),
            _ => None,
        }
    }
}

impl Plan {
    /// Reads a plan file; the files it names are looked for beside it.
    pub fn load(path: &Path) -> Result<Self, PlanError> {
        let text = read_plan(path)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::parse(&text, folder, &|name| std::env::var(name).ok())
    }

    /// Reads a plan's text. `folder` is where its files are, `environment` looks variables up.
    ///
    /// ```
    /// use countersign_probe::plan::Plan;
    /// use std::path::Path;
    ///
    /// let text = r#"
    ///     [server]
    ///     url = "http://127.0.0.1:8080/mcp"
    ///     [load]
    ///     executor = "rate"
    ///     rate = 50
    ///     duration = "10s"
    ///     [[scenario]]
    ///     tool = "search"
    ///     arguments = { query = "rust" }
    /// "#;
    /// let plan = Plan::parse(text, Path::new("."), &|_| None)?;
    /// assert_eq!(plan.scenarios[0].calls[0].tool, "search");
    /// # Ok::<(), countersign_probe::plan::PlanError>(())
    /// ```
    pub fn parse(
        text: &str,
        folder: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, PlanError> {
        let raw: raw::Plan = toml::from_str(text).map_err(|error| hint::syntax(text, &error))?;
        resolve::resolve(raw, folder, environment)
    }

    /// What the plan will do, in words; nothing is sent to find out.
    pub fn explain(&self) -> String {
        write_string(|out| explain::write(self, out))
    }

    /// When calls start, in words.
    pub fn executor(&self) -> String {
        explain::executor(&self.load)
    }

    /// The weights of all scenarios together.
    fn total_weight(&self) -> u64 {
        let weights = self.scenarios.iter().map(|one| u64::from(one.weight));
        weights.sum()
    }

    /// Chooses a scenario by weight.
    pub(crate) fn choose_scenario(&self, random: &mut Random) -> usize {
        let mut left = random.below(self.total_weight());
        let chosen = self.scenarios.iter().position(|one| {
            let weight = u64::from(one.weight);
            let found = left < weight;
            left = left.saturating_sub(weight);
            found
        });
        chosen.unwrap_or(0)
    }

    /// How long the load lasts, without draining.
    pub fn duration(&self) -> Duration {
        self.load.duration()
    }
}

fn read_plan(path: &Path) -> Result<String, PlanError> {
    read_limited(path, MOST_BYTES).map_err(|source| PlanError::Read {
        path: path.to_owned(),
        source,
    })
}

/// The text of a file that is no larger than `most` bytes.
fn read_limited(path: &Path, most: u64) -> std::io::Result<String> {
    if std::fs::metadata(path)?.len() > most {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    std::fs::read_to_string(path)
}

#[cfg(test)]
mod tests;
