//! Settings from outside the file. The environment's win over the file's, flags win over both;
//! that is only an order of applying.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::environment::Environment;
use super::model::Config;
use super::problem::{ConfigError, Problem};
use super::resolve;
use super::rules;
use super::secret::{ApiKey, Secret};

/// What to set; `None` leaves what is there.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `COUNTERSIGN_LISTEN`, `--listen`.
    pub listen: Option<SocketAddr>,
    /// `COUNTERSIGN_DATA_DIR`, `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// `COUNTERSIGN_API_KEY`.
    pub api_key: Option<ApiKey>,
    /// `COUNTERSIGN_ADMIN_KEY`.
    pub admin_key: Option<ApiKey>,
    /// `COUNTERSIGN_STORAGE_URL`.
    pub storage_url: Option<Secret>,
    /// `--env-file`: where variables for references are kept, if not in the data directory.
    pub env_file: Option<PathBuf>,
}

impl Overrides {
    /// What the environment sets.
    pub fn from_environment(environment: &Environment<'_>) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let mut refuse = |variable: &str, problem: Problem| {
            let message = format!("{variable}: {}", problem.message);
            problems.push(Problem { message, ..problem });
        };
        let mut overrides = Self::default();
        if let Some(text) = environment.get("COUNTERSIGN_LISTEN") {
            match rules::listen(&text) {
                Ok(listen) => overrides.listen = Some(listen),
                Err(problem) => refuse("COUNTERSIGN_LISTEN", problem),
            }
        }
        if let Some(text) = environment.get("COUNTERSIGN_DATA_DIR") {
            match environment.expand(&text) {
                Ok(path) => overrides.data_dir = Some(path),
                Err(problem) => refuse("COUNTERSIGN_DATA_DIR", problem),
            }
        }
        let named =
            |name: &str, value: String| Secret::from_variables(value, vec![name.to_owned()]);
        for (variable, key) in [
            ("COUNTERSIGN_API_KEY", &mut overrides.api_key),
            ("COUNTERSIGN_ADMIN_KEY", &mut overrides.admin_key),
        ] {
            if let Some(text) = environment.get(variable) {
                match rules::api_key(&text) {
                    Ok(()) => *key = Some(named(variable, text)),
                    Err(problem) => refuse(variable, problem),
                }
            }
        }
        if let Some(text) = environment.get("COUNTERSIGN_STORAGE_URL") {
            match rules::storage_url(&text) {
                Ok(()) => overrides.storage_url = Some(named("COUNTERSIGN_STORAGE_URL", text)),
                Err(problem) => refuse("COUNTERSIGN_STORAGE_URL", problem),
            }
        }
        if problems.is_empty() {
            return Ok(overrides);
        }
        Err(problems.into())
    }

    /// Sets what is to be set, and checks what depends on it again.
    pub fn apply(&self, config: &mut Config) -> Result<(), ConfigError> {
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        if let Some(data_dir) = &self.data_dir {
            config.data_dir.clone_from(data_dir);
        }
        if let Some(api_key) = &self.api_key {
            config.api_key = Some(api_key.clone());
        }
        if let Some(admin_key) = &self.admin_key {
            config.admin_key = Some(admin_key.clone());
        }
        if let Some(storage_url) = &self.storage_url {
            config.storage.url = storage_url.clone();
        }
        resolve::distinct_keys(config)?;
        resolve::exposure(config).map_err(ConfigError::from)
    }
}
