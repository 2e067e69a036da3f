//! Which file holds: the flag's, else the environment's, else the one in the home directory, else
//! mcpproxy's. Only asks whether files exist; reads none.

use std::fmt;
use std::path::{Path, PathBuf};

use super::environment::Environment;

/// The variable that names the file.
pub(crate) const VARIABLE: &str = "COUNTERSIGN_CONFIG";

/// The file that holds, and why it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The file, or, where none was found, the place it would be; `None` if not even a home is known.
    pub path: Option<PathBuf>,
    /// What pointed there.
    pub source: Origin,
}

/// What pointed to a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `--config`.
    Flag,
    /// `COUNTERSIGN_CONFIG`.
    Environment,
    /// It is in the usual place.
    Home,
    /// It is in mcpproxy's usual place, and there is none in ours.
    Mcpproxy,
    /// There is none: the defaults hold.
    Nowhere,
}

impl Located {
    /// The file to read, if there is one.
    pub fn file(&self) -> Option<&Path> {
        match self.source {
            Origin::Nowhere => None,
            _ => self.path.as_deref(),
        }
    }

    /// Whether a flag or the environment names the file, which then has to be there.
    pub fn is_named(&self) -> bool {
        matches!(self.source, Origin::Flag | Origin::Environment)
    }
}

/// One line for the person who starts the gateway.
impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_deref().unwrap_or(Path::new("mcp_config.json"));
        let path = path.display();
        match self.source {
            Origin::Flag => write!(f, "{path}, from --config"),
            Origin::Environment => write!(f, "{path}, from {VARIABLE}"),
            Origin::Home => write!(f, "{path}"),
            Origin::Mcpproxy => {
                write!(f, "{path}, mcpproxy's file, since there is none of our own")
            }
            Origin::Nowhere => write!(f, "the defaults, since there is no {path}"),
        }
    }
}

/// Finds the file that holds. One named by flag or environment holds even if it is missing, so
/// that a misspelt path is an error.
pub fn locate(flag: Option<PathBuf>, environment: &Environment<'_>) -> Located {
    let found = |path, source| Located {
        path: Some(path),
        source,
    };
    if let Some(path) = flag {
        return found(path, Origin::Flag);
    }
    if let Some(path) = environment.get(VARIABLE) {
        let path = environment.expand(&path).unwrap_or_else(|_| path.into());
        return found(path, Origin::Environment);
    }
    let Some(home) = environment.home() else {
        return Located {
            path: None,
            source: Origin::Nowhere,
        };
    };
    let ours = home.join(".countersign/mcp_config.json");
    let theirs = home.join(".mcpproxy/mcp_config.json");
    if ours.exists() {
        found(ours, Origin::Home)
    } else if theirs.exists() {
        found(theirs, Origin::Mcpproxy)
    } else {
        found(ours, Origin::Nowhere)
    }
}
