//! What a run is to do, as its caller decides. Nothing here has a side effect.

use std::time::Duration;

use serde_json::Value;

use crate::client::Options;
use crate::policy::{Date, Validation};

/// Makes a command that shows a finding again: from the tool, and the arguments if it takes any.
pub type Reproduce = dyn Fn(&str, Option<&Value>) -> String;

/// What a run is to do.
pub struct Settings {
    /// The seed of the random passes.
    pub seed: u64,
    /// Cases per tool of the enumerated pass.
    pub coverage: usize,
    /// Cases per tool of each random pass.
    pub random: usize,
    /// Cases per tool with values from earlier results.
    pub stateful: usize,
    /// Tools at most.
    pub max_tools: usize,
    /// Tools to test, by pattern; all if empty.
    pub only: Vec<String>,
    /// Tools that may be called whatever they say about themselves, by pattern.
    pub allow: Vec<String>,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long a tool is waited for until it counts as dead; an answer between the two is slow.
    pub patience: Duration,
    /// What the client asks of the server.
    pub options: Options,
    /// Strictness and overrides.
    pub validation: Validation,
    /// The day, for overrides that end.
    pub today: Date,
    /// Values that exist, by the name of the argument they are for: made-up ids and paths mostly
    /// lead to "not found".
    pub values: Vec<(String, Value)>,
    /// One case instead of the passes.
    pub case: Option<Value>,
    /// How findings are shown again.
    pub reproduce: Box<Reproduce>,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            coverage: 60,
            random: 12,
            stateful: 8,
            max_tools: 200,
            only: Vec::new(),
            allow: Vec::new(),
            timeout: Duration::from_secs(10),
            patience: Duration::from_secs(30),
            options: Options::default(),
            validation: Validation::default(),
            today: Date::from_unix_seconds(0),
            values: Vec::new(),
            case: None,
            reproduce: Box::new(|tool, _| tool.to_owned()),
        }
    }
}
