//! `countersign demo-server`: the server behind `serve --demo`, over standard input and output. Hidden from the help,
//! because only that command uses it.

use std::io;

use clap::Args;

use crate::Exit;
use crate::report::Failure;

const EXAMPLE: &str = "\
Example:
  countersign demo-server < requests.jsonl";

/// Serve the tools of `serve --demo` over standard input and output
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE, hide = true)]
pub(crate) struct Arguments {}

pub(crate) fn run(Arguments {}: &Arguments) -> Result<Exit, Failure> {
    countersign_demo::serve(io::stdin().lock(), io::stdout().lock())
        .map_err(|error| Failure::from(anyhow::Error::from(error)))?;
    Ok(Exit::Ok)
}
