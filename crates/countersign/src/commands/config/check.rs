//! `countersign config check`: everything that is wrong with a file, each with its place and the next step. Reads the
//! environment too, since references and settings in it decide whether a start would succeed.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use countersign_config::{ConfigError, Environment, Problem, exposure_warning, load, locate};
use serde::Serialize;

use super::{refused, warn};
use crate::format::{Format, FormatOption};
use crate::report::{Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign config check
  countersign config check -o json ./mcp_config.json

Exit codes: 0 it can be used, 2 it cannot.";

/// Say what is wrong with a configuration file
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The file, if not the usual one
    file: Option<PathBuf>,
    #[command(flatten)]
    format: FormatOption,
}

#[derive(Debug, Serialize)]
struct CheckReport<'a> {
    file: &'a str,
    ok: bool,
    errors: Vec<Notice<'a>>,
    warnings: Vec<Notice<'a>>,
}

#[derive(Debug, Serialize)]
struct Notice<'a> {
    pointer: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    message: &'a str,
    hint: Option<&'a str>,
}

impl<'a> From<&'a Problem> for Notice<'a> {
    fn from(problem: &'a Problem) -> Self {
        let place = problem.place.as_ref();
        let at = place.and_then(|place| place.at);
        Self {
            pointer: place.map(|place| place.pointer.as_str()),
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
            message: &problem.message,
            hint: problem.hint.as_deref(),
        }
    }
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let environment = Environment::process();
    let located = locate(arguments.file.clone(), &environment);
    let Some(path) = located.file() else {
        let error = anyhow!("there is no configuration file; without one the defaults hold");
        return Err(Failure::usage(error).hint("`countersign config init` writes one"));
    };
    let file = path.to_string_lossy();
    let format = arguments.format.output;
    // A gateway starts without a server whose variables are not set; this command reports them.
    let loaded = load(path, &environment).and_then(|(config, warnings)| {
        let complete = config.require_variables();
        complete.map_err(|error| error.in_file(path))?;
        Ok((config, warnings))
    });
    let (errors, warnings) = match loaded {
        Ok((config, mut warnings)) => {
            warnings.extend(exposure_warning(&config));
            (Vec::new(), warnings)
        }
        Err(ConfigError::Invalid { problems, .. }) if format == Format::Json => {
            (problems, Vec::new())
        }
        Err(error) => return Err(refused(error, console)),
    };
    let checked = CheckReport {
        file: &file,
        ok: errors.is_empty(),
        errors: errors.iter().map(Notice::from).collect(),
        warnings: warnings.iter().map(Notice::from).collect(),
    };
    if format == Format::Text {
        warn(&file, &warnings, console);
    }
    let text = || format!("{}: ok\n", printable(&file));
    arguments.format.print(&checked, text, console)?;
    Ok(if checked.ok { Exit::Ok } else { Exit::Usage })
}
