//! `-o text|json`: for people or for programs. JSON is one object a line, so a reader need not wait for the end.

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::Value;

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

/// Something to report that reads either way.
pub(crate) trait Report: Serialize {
    /// Whole lines, safe for a terminal.
    fn text(&self) -> String;
}

impl Format {
    /// Prints a value of the REST interface: as it is, or as text.
    pub(crate) fn print_value(
        self,
        value: &Value,
        text: impl FnOnce() -> String,
        console: &mut Console<'_>,
    ) -> Result<Exit, Failure> {
        match self {
            Self::Text => console.data(text())?,
            Self::Json => console.data(format!("{value}\n"))?,
        }
        Ok(Exit::Ok)
    }

    pub(crate) fn print(
        self,
        report: &impl Report,
        console: &mut Console<'_>,
    ) -> Result<(), Failure> {
        match self {
            Self::Text => console.data(report.text()),
            Self::Json => {
                let mut line = serde_json::to_vec(report).map_err(anyhow::Error::from)?;
                line.push(b'\n');
                console.data(line)
            }
        }
    }
}
