//! `countersign schema`: the schema engine from the outside, on files. Compiles as the gateway does, with the same limits.

use clap::{Args, Subcommand};
use countersign_schema::{Compiler, Schema, Unenforceable};

use crate::report::Failure;
use crate::{Console, Exit};

mod check;
mod validate;

const EXAMPLES: &str = "\
Examples:
  countersign schema check tools/*.schema.json
  countersign schema validate weather.schema.json result.json";

/// Check JSON Schemas, and validate JSON against them
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    Check(check::Arguments),
    Validate(validate::Arguments),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Check(arguments) => check::run(arguments, console),
        Command::Validate(arguments) => validate::run(arguments, console),
    }
}

/// How schemas are compiled, for both commands.
#[derive(Debug, Args)]
struct CompileOptions {
    /// Let `format` reject values; by default it only annotates, as the specification says
    #[arg(long)]
    assert_formats: bool,
}

impl CompileOptions {
    fn compile(&self, bytes: &[u8]) -> Result<Schema, Unenforceable> {
        Compiler::new()
            .assert_formats(self.assert_formats)
            .compile(bytes)
    }
}

/// The exit of several inputs: unreadable input first, since then the question was not fully asked; then a "no", since one
/// suffices; then an open verdict.
fn worst(exits: impl IntoIterator<Item = Exit>) -> Exit {
    exits
        .into_iter()
        .max_by_key(|exit| match exit {
            Exit::Ok => 0,
            Exit::Exhausted => 1,
            Exit::No => 2,
            _ => 3,
        })
        .unwrap_or(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::worst;
    use crate::Exit;

    #[test]
    fn the_worst_input_decides() {
        assert_eq!(worst([]), Exit::Ok);
        assert_eq!(
            worst([Exit::Ok, Exit::Exhausted, Exit::Ok]),
            Exit::Exhausted
        );
        assert_eq!(worst([Exit::No, Exit::Exhausted]), Exit::No);
        assert_eq!(worst([Exit::Usage, Exit::No]), Exit::Usage);
    }
}
