//! `countersign completions`: a completion script for a shell, generated from the command tree so it cannot drift.

use clap::Args;
use clap_complete::Shell;

use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLE: &str = "\
Example:
  countersign completions zsh > ~/.zfunc/_countersign";

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// The shell to complete in
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut crate::tree(),
        "countersign",
        &mut script,
    );
    console.data(script)?;
    Ok(Exit::Ok)
}
