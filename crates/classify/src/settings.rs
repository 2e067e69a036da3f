//! The settings of one classifier, complete and typed. Reading files and environment variables is the caller's.

mod bedrock;
mod kind;
mod options;

use std::fmt;

pub use bedrock::{AwsAuth, Bedrock, BedrockCheck, BedrockSource};
pub use kind::{Kind, Local, Nemo, NemoRail, PromptShields, ShieldsAuth, Webhook};
pub use options::{OnError, OnInjection, Options};

/// A key. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the key in.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// One classifier.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What its operator calls it.
    pub name: String,
    /// How it is asked.
    pub options: Options,
    /// What it is.
    pub kind: Kind,
}
