//! How a run is printed, or written to a file.

use std::path::PathBuf;

use clap::ValueEnum;
use countersign_probe::contract::{Run, render};

use crate::report::printable;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people
    #[default]
    Text,
    /// The whole run as one object
    Json,
    /// One finding a line
    Jsonl,
    /// A summary for a CI step
    Markdown,
    /// Test suites, one per tool
    Junit,
    /// For code scanning
    Sarif,
    /// Counters
    Prometheus,
}

impl Form {
    pub(super) fn render(self, run: &Run) -> String {
        match self {
            Self::Text => render::terminal(run, &printable),
            Self::Json => render::json(run),
            Self::Jsonl => render::json_lines(run),
            Self::Markdown => render::markdown(run),
            Self::Junit => render::junit(run),
            Self::Sarif => render::sarif(run),
            Self::Prometheus => render::prometheus(run),
        }
    }
}

/// `FORMAT=FILE`.
pub(super) fn report(text: &str) -> Result<(Form, PathBuf), String> {
    let (name, file) = text
        .split_once('=')
        .ok_or_else(|| format!("expected FORMAT=FILE, FORMAT one of {}", names()))?;
    let form = Form::from_str(name, false)
        .map_err(|_| format!("no format '{name}'; there are {}", names()))?;
    Ok((form, file.into()))
}

/// The formats there are.
fn names() -> String {
    let forms = Form::value_variants().iter();
    let names: Vec<String> = forms
        .filter_map(|form| Some(form.to_possible_value()?.get_name().to_owned()))
        .collect();
    names.join(", ")
}
