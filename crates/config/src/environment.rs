//! What configuration may know of the process it is read in: its variables and the user's home.
//! Both are arguments, so that a test says what they are. Also `${env:NAME}`, the only way a
//! file refers to them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::problem::Problem;
use super::secret::Secret;

/// How a reference to the secret store of the desktop begins.
pub(crate) const KEYRING: &str = "${keyring:";

type Lookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Variables and home directory.
pub struct Environment<'a> {
    lookup: Box<Lookup<'a>>,
    home: Option<PathBuf>,
}

impl<'a> Environment<'a> {
    /// Variables by a function, and a home.
    pub fn new(lookup: impl Fn(&str) -> Option<String> + 'a, home: Option<PathBuf>) -> Self {
        Self {
            lookup: Box::new(lookup),
            home,
        }
    }

    /// This process's.
    pub fn process() -> Environment<'static> {
        Environment::new(
            |name| std::env::var(name).ok(),
            std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
        )
    }

    /// No variables, no home.
    pub fn empty() -> Environment<'static> {
        Environment::new(|_| None, None)
    }

    /// The same with more variables, which do not win over those that are set.
    pub fn with_fallback<'b>(&'b self, more: &'b BTreeMap<String, String>) -> Environment<'b> {
        Environment {
            lookup: Box::new(move |name| (self.lookup)(name).or_else(|| more.get(name).cloned())),
            home: self.home.clone(),
        }
    }

    /// A variable's value. An empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.lookup)(name).filter(|value| !value.is_empty())
    }

    /// The user's home directory.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// `~` and `~/…` as paths under the home directory.
    pub(crate) fn expand(&self, path: &str) -> Result<PathBuf, Problem> {
        let Some(rest) = path.strip_prefix('~') else {
            return Ok(PathBuf::from(path));
        };
        if !rest.is_empty() && !rest.starts_with('/') {
            return Err(Problem::new(
                "'~' with a user's name is not understood",
                "write '~/…' for your own home, or the whole path",
            ));
        }
        let home = self.home().ok_or_else(|| {
            Problem::new(
                "'~' has no meaning: no home directory is known",
                "set HOME, or write the whole path",
            )
        })?;
        Ok(home.join(rest.trim_start_matches('/')))
    }

    /// `text` with each `${env:NAME}` replaced. A variable that is set but empty counts as set here.
    pub(crate) fn resolve(&self, text: &str) -> Result<Secret, BadReference> {
        if text.contains(KEYRING) {
            let message = "${keyring:…} references are not supported";
            let hint = "put the value into a variable and write ${env:NAME}";
            return Err(malformed(message, hint));
        }
        let mut value = String::with_capacity(text.len());
        let mut references = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${env:") {
            let (name, tail) = after
                .split_once('}')
                .ok_or_else(|| malformed("a ${env:…} reference has no end", "write ${env:NAME}"))?;
            if !is_variable(name) {
                let message = "a ${env:…} reference does not name a variable";
                let hint = "write ${env:NAME}, with letters, digits and _ in the name";
                return Err(malformed(message, hint));
            }
            let found = (self.lookup)(name).ok_or_else(|| unset(name))?;
            value.push_str(before);
            value.push_str(&found);
            references.push(name.to_owned());
            rest = tail;
        }
        value.push_str(rest);
        Ok(Secret::from_variables(value, references))
    }
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

/// Why a reference could not be replaced.
#[derive(Debug)]
pub(crate) struct BadReference {
    pub(crate) problem: Problem,
    /// Whether the only reason is that its variable is not set.
    pub(crate) is_unset: bool,
}

fn malformed(message: &str, hint: &str) -> BadReference {
    BadReference {
        problem: Problem::new(message, hint),
        is_unset: false,
    }
}

fn unset(name: &str) -> BadReference {
    let message = format!("the environment variable {name} is not set");
    let hint =
        format!("set {name} before starting, or write {name}=… into `env` in the data directory");
    BadReference {
        problem: Problem::new(message, hint),
        is_unset: true,
    }
}

pub(crate) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
