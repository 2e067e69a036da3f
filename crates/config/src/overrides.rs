//! Settings from outside the file: the environment wins over the file, flags win over both. They are applied in that
//! order.

use std::path::PathBuf;

use super::environment::Environment;
use super::listen::Listen;
use super::model::Config;
use super::problem::{ConfigError, Problem};
use super::resolve;
use super::rules;
use super::secret::{ApiKey, Secret};

/// What to set; `None` leaves what is there.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `COUNTERSIGN_LISTEN`, with commas between several places, and each `--listen`.
    pub listen: Option<Listen>,
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
        let named =
            |text: &str, name: &str| Secret::from_variables(text.to_owned(), vec![name.to_owned()]);
        let key = |text: &str, name: &str| rules::api_key(text).map(|()| named(text, name));
        let storage = |text: &str, name: &str| rules::storage_url(text).map(|()| named(text, name));
        let listen = |text: &str, _: &str| Listen::parse_list(text);
        let data_dir = |text: &str, _: &str| environment.expand(text);
        let (from, into) = (environment, &mut problems);
        let overrides = Self {
            listen: read(from, "COUNTERSIGN_LISTEN", listen, into),
            data_dir: read(from, "COUNTERSIGN_DATA_DIR", data_dir, into),
            api_key: read(from, "COUNTERSIGN_API_KEY", key, into),
            admin_key: read(from, "COUNTERSIGN_ADMIN_KEY", key, into),
            storage_url: read(from, "COUNTERSIGN_STORAGE_URL", storage, into),
            env_file: None,
        };
        ConfigError::if_any(problems)?;
        Ok(overrides)
    }

    /// Sets what is to be set, and checks what depends on it again.
    pub fn apply(&self, config: &mut Config) -> Result<(), ConfigError> {
        fn set<T: Clone>(setting: &mut T, value: Option<&T>) {
            if let Some(value) = value {
                setting.clone_from(value);
            }
        }
        set(&mut config.listen, self.listen.as_ref());
        set(&mut config.data_dir, self.data_dir.as_ref());
        set(&mut config.storage.url, self.storage_url.as_ref());
        config.api_key = self.api_key.clone().or(config.api_key.take());
        config.admin_key = self.admin_key.clone().or(config.admin_key.take());
        resolve::distinct_keys(config)?;
        resolve::exposure(config).map_err(ConfigError::from)
    }
}

/// The value of a variable; nothing if it is not set or cannot be used.
fn read<T>(
    environment: &Environment<'_>,
    variable: &str,
    parse: impl Fn(&str, &str) -> Result<T, Problem>,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    let text = environment.get(variable)?;
    let refuse = |problem: Problem| {
        let message = format!("{variable}: {}", problem.message);
        problems.push(Problem { message, ..problem });
    };
    parse(&text, variable).map_err(refuse).ok()
}
