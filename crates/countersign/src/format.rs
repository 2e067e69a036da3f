//! `-o text|json`: for people or for programs. JSON is one object a line, so a reader need not wait for the end.

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::report::Failure;
use crate::{Console, Exit};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
}

/// The option itself, to flatten into a command's arguments.
#[derive(Debug, Args)]
pub(crate) struct FormatOption {
    /// How to print: text for people, or one JSON object a line
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        value_enum,
        default_value_t
    )]
    pub(crate) output: Format,
}

impl FormatOption {
    /// Prints a value as a line of JSON, or as `text`: whole lines, safe for a terminal. Returns [`Exit::Ok`], for
    /// commands that have nothing more to do.
    pub(crate) fn print(
        &self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
        console: &mut Console<'_>,
    ) -> Result<Exit, Failure> {
        match self.output {
            Format::Text => console.data(text())?,
            Format::Json => console.json(value)?,
        }
        Ok(Exit::Ok)
    }
}
