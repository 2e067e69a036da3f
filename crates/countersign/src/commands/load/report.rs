//! `countersign load report`: a run that was written as JSON, in any other form.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use countersign_probe::report::{Run, VERSION};

use super::{EXAMPLES, Reports};
use crate::report::Failure;
use crate::{Console, Exit};

/// A report larger than this was not written by us.
const MOST_BYTES: u64 = 256 << 20;

/// Show a run again, in another form
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The run, as JSON
    #[arg(value_name = "RUN")]
    run: PathBuf,
    #[command(flatten)]
    reports: Reports,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let run = read(&arguments.run)?;
    arguments.reports.write(&run, std::iter::empty(), console)?;
    Ok(Exit::Ok)
}

/// Reads a run that was written as JSON.
pub(super) fn read(file: &Path) -> Result<Run, Failure> {
    let read = || {
        let size = std::fs::metadata(file)?.len();
        if size > MOST_BYTES {
            return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge));
        }
        std::fs::read(file)
    };
    let bytes = read()
        .with_context(|| format!("cannot read {}", file.display()))
        .map_err(Failure::usage)?;
    let run: Run = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is no load run", file.display()))
        .map_err(|error| {
            Failure::usage(error).hint("`load run PLAN --report json=FILE` writes one")
        })?;
    if run.version != VERSION {
        let error = anyhow!("{} has version {}", file.display(), run.version);
        return Err(Failure::usage(error).hint(format!("this program reads version {VERSION}")));
    }
    Ok(run)
}
