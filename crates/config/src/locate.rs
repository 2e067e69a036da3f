//! Finds the configuration file: the flag's, else the environment's, else the one in the home directory, else
//! mcpproxy's. Only asks whether files exist; reads none.

use std::fmt;
use std::path::{Path, PathBuf};

use super::environment::Environment;

/// The variable that names the file.
pub(crate) const VARIABLE: &str = "COUNTERSIGN_CONFIG";

/// The configuration file in use, and what named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigLocation {
    /// The file, or, where none was found, the place it would be; `None` if not even a home is known.
    pub path: Option<PathBuf>,
    /// What pointed there.
    pub source: LocationSource,
}

/// What pointed to a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationSource {
    /// `--config`.
    Flag,
    /// `COUNTERSIGN_CONFIG`.
    Environment,
    /// It is in the usual place.
    Home,
    /// It is in mcpproxy's usual place, and there is none in Countersign's.
    Mcpproxy,
    /// There is none: the defaults hold.
    Nowhere,
}

impl ConfigLocation {
    /// The file to read, if there is one.
    pub fn file(&self) -> Option<&Path> {
        match self.source {
            LocationSource::Nowhere => None,
            _ => self.path.as_deref(),
        }
    }

    /// Whether a flag or the environment names the file, which then has to be there.
    pub fn is_named(&self) -> bool {
        matches!(
            self.source,
            LocationSource::Flag | LocationSource::Environment
        )
    }
}

/// One line for the person who starts the gateway.
impl fmt::Display for ConfigLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_deref().unwrap_or(Path::new("mcp_config.json"));
        let path = path.display();
        match self.source {
            LocationSource::Flag => write!(f, "{path}, from --config"),
            LocationSource::Environment => write!(f, "{path}, from {VARIABLE}"),
            LocationSource::Home => write!(f, "{path}"),
            LocationSource::Mcpproxy => {
                write!(f, "{path}, mcpproxy's file, since there is none of our own")
            }
            LocationSource::Nowhere => write!(f, "the defaults, since there is no {path}"),
        }
    }
}

/// Finds the file that holds. One named by flag or environment holds even if it is missing, so
/// that a misspelt path is an error.
pub fn locate(flag: Option<PathBuf>, environment: &Environment<'_>) -> ConfigLocation {
    let found = |path, source| ConfigLocation {
        path: Some(path),
        source,
    };
    if let Some(path) = flag {
        return found(path, LocationSource::Flag);
    }
    if let Some(path) = environment.get(VARIABLE) {
        let path = environment.expand(&path).unwrap_or_else(|_| path.into());
        return found(path, LocationSource::Environment);
    }
    let Some(home) = environment.home() else {
        return ConfigLocation {
            path: None,
            source: LocationSource::Nowhere,
        };
    };
    let ours = home.join(".countersign/mcp_config.json");
    let theirs = home.join(".mcpproxy/mcp_config.json");
    if ours.exists() {
        found(ours, LocationSource::Home)
    } else if theirs.exists() {
        found(theirs, LocationSource::Mcpproxy)
    } else {
        found(ours, LocationSource::Nowhere)
    }
}
