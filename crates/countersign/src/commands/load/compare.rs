//! `countersign load compare`: runs before and after a change, and whether it got worse by more than chance.

use std::path::PathBuf;

use clap::Args;
use countersign_probe::compare::{Limits, compare, terminal};
use countersign_probe::report::Run;

use super::report::read;
use crate::format::FormatOption;
use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Example:
  countersign load compare --before old-*.json --after new-*.json

Two runs of the same thing differ by tens of percent on a shared machine. A figure is a regression
only if its median got worse by more than the limit (10 % for p99, half a percentage point of
unexpected outcomes, 10 % of calls a second) and a rank test says that chance does that in fewer
than 1 of 20 cases. That takes at least five runs of each; take them in turn, not in a row.

Exit codes: 0 no regression, or too few runs to tell; 1 a regression; 2 a file that is no run.";

/// Say whether runs after a change are worse than before
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Runs before the change, as JSON
    #[arg(long, value_name = "RUN", num_args = 1.., required = true)]
    before: Vec<PathBuf>,
    /// Runs after it
    #[arg(long, value_name = "RUN", num_args = 1.., required = true)]
    after: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let all = |files: &[PathBuf]| -> Result<Vec<Run>, Failure> {
        files.iter().map(|file| read(file)).collect()
    };
    let (before, after) = (all(&arguments.before)?, all(&arguments.after)?);
    let compared = compare(&before, &after, &Limits::default());
    let text = || terminal(&compared);
    arguments.format.print(&compared, text, console)?;
    Ok(Exit::answer(compared.verdict.exit == 0))
}
