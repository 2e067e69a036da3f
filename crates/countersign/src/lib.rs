//! The `countersign` command line: arguments in, data on stdout, everything else on stderr, an exit code out.
//!
//! This crate parses, calls the library crates and prints. It decides nothing about a tool result itself.
//! [`run`] takes its streams as an argument, so a whole invocation can be tested in memory:
//!
//! ```
//! use countersign::{Console, Exit};
//!
//! let (mut out, mut err) = (Vec::new(), Vec::new());
//! let exit = countersign::run(["countersign", "--version"], &mut Console::new(&b""[..], &mut out, &mut err));
//!
//! assert_eq!(exit, Exit::Ok);
//! assert!(out.starts_with(b"countersign "));
//! assert!(err.is_empty());
//! ```

mod commands;
mod console;
mod exit;
mod files;
mod format;
mod json;
mod remote;
mod report;
mod runtime;
mod source;
mod table;

use std::ffi::OsString;

use clap::Parser;

pub use console::Console;
pub use exit::Exit;

const EXAMPLES: &str = "\
Examples:
  countersign serve --demo
  countersign wrap -- npx -y some-server
  countersign import claude-desktop
  countersign activity list --status blocked
  countersign policy preview --mode strict --since 7d
  countersign config init
  countersign doctor
  countersign inspect --tool tool.json --mode strict result.json
  countersign sanitise --mode full page.txt
  countersign schema validate weather.schema.json result.json
  countersign load run plan.toml
  countersign contract run -- npx -y some-server
  countersign completions bash > countersign.bash
  countersign man | man -l -

Exit codes:
  0   done, and the answer is yes
  1   the answer is no: blocked, invalid, gate failed
  2   wrong usage or configuration, or input that cannot be read
  3   the target cannot be reached
  4   the load that was offered was not made, so there is no result
  5   refused by policy: a tool that may not be called, a baseline that may not be written
  6   the baseline is stale
  7   the fuel for this instance was used up before a verdict
  8   the schema cannot be enforced
  70  a bug in countersign";

/// The boundary that every MCP tool result crosses before a model reads it.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

/// Runs one invocation: `args` starts with the program's name, as `std::env::args_os` does.
///
/// Never panics on a closed stdout: its reader may leave early, and the exit code still tells the answer.
pub fn run<I, T>(args: I, console: &mut Console<'_>) -> Exit
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let outcome = match Cli::try_parse_from(args) {
        Ok(cli) => commands::run(cli.command, console),
        Err(refused) => return report::arguments(&refused, console),
    };
    match outcome.and_then(|exit| console.flush().map(|()| exit)) {
        Ok(exit) => exit,
        Err(failure) => report::failure(&failure, console),
    }
}

/// The whole command tree, for the generators that describe it.
fn tree() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

#[cfg(test)]
mod tests {
    use super::{EXAMPLES, Exit, tree};

    #[test]
    fn the_argument_definitions_are_consistent() {
        tree().debug_assert();
    }

    #[test]
    fn help_documents_every_exit_code() {
        let codes = [
            Exit::Ok,
            Exit::No,
            Exit::Usage,
            Exit::Unreachable,
            Exit::Saturated,
            Exit::Refused,
            Exit::Stale,
            Exit::Exhausted,
            Exit::Unenforceable,
            Exit::Internal,
        ];
        for exit in codes {
            let entry = format!("\n  {:<3} ", exit.code());
            assert!(EXAMPLES.contains(&entry), "{exit:?} is not in the help");
        }
    }

    #[test]
    fn every_command_shows_an_example() {
        let mut open = vec![tree()];
        while let Some(command) = open.pop() {
            let help = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains("Example"),
                "`{}` has no example in its help",
                command.get_name()
            );
            open.extend(command.get_subcommands().cloned());
        }
    }
}
