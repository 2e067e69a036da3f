//! `countersign man`: the manual page of the program or of one command, generated from the command tree.

use anyhow::{Context, anyhow};
use clap::Args;

use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign man | man -l -
  countersign man completions > countersign-completions.1";

/// Print a manual page
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The command to describe, in words; the whole program if none is given
    command: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(find(&arguments.command)?);
    man.render(&mut page)
        .context("cannot render the manual page")?;
    console.data(page)?;
    Ok(Exit::Ok)
}

/// Building the tree first names each page after its whole path, as manual pages of subcommands are.
fn find(path: &[String]) -> Result<clap::Command, Failure> {
    let mut command = crate::tree();
    command.build();
    for word in path {
        command = match command.find_subcommand(word) {
            Some(found) => found.clone(),
            None => {
                return Err(
                    Failure::usage(anyhow!("there is no command '{word}' to describe"))
                        .hint(list_subcommands(&command)),
                );
            }
        };
    }
    Ok(command)
}

fn list_subcommands(command: &clap::Command) -> String {
    let names: Vec<_> = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(clap::Command::get_name)
        .collect();
    match names.as_slice() {
        [] => format!("'{}' has no commands of its own", command.get_name()),
        names => format!("'{}' has: {}", command.get_name(), names.join(", ")),
    }
}
