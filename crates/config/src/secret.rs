//! A value that must not be printed: keys, headers, the environment of a child. `Debug` and
//! `config show` see where it came from, never what it is.

use std::fmt;

/// The key clients authenticate with.
pub type ApiKey = Secret;

/// A secret. Compare keys with a constant-time comparison, not with `==`; it has none.
#[derive(Clone)]
pub struct Secret {
    value: String,
    references: Vec<String>,
}

impl Secret {
    /// A secret written as it is.
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            references: Vec::new(),
        }
    }

    /// A secret made from these environment variables.
    pub(crate) fn from_variables(value: String, references: Vec<String>) -> Self {
        Self { value, references }
    }

    /// The secret itself.
    pub fn expose(&self) -> &str {
        &self.value
    }

    /// Whether the file itself holds it.
    pub(crate) fn is_literal(&self) -> bool {
        self.references.is_empty()
    }

    /// What may be shown: that it is set, and which variables it is from.
    pub fn shown(&self) -> String {
        if self.references.is_empty() {
            return "[redacted]".to_owned();
        }
        let names: Vec<_> = self
            .references
            .iter()
            .map(|name| format!("${{env:{name}}}"))
            .collect();
        format!("[redacted, from {}]", names.join(" "))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}
