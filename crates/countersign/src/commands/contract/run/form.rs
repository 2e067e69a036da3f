//! How a run is printed, or written to a file.

use std::path::PathBuf;

use clap::ValueEnum;
use countersign_probe::contract::{Run, render};

use crate::commands::value_parser::parse_format_and_file;
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
pub(super) fn parse_report(text: &str) -> Result<(Form, PathBuf), String> {
    let forms = Form::value_variants().iter();
    let names = forms.filter_map(|form| Some(form.to_possible_value()?.get_name().to_owned()));
    let known = names.collect::<Vec<_>>().join(", ");
    parse_format_and_file(text, &known, |name| Form::from_str(name, false).ok())
}
