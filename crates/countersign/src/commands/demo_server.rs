//! `countersign demo-server`: the server behind `serve --demo`, over standard input and output. Hidden, because nobody
//! but that command has a use for it.

use std::io;

use clap::Args;
use countersign_fixture::{preset, stdio};

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
    stdio::serve(preset::demo(), io::stdin().lock(), io::stdout())
        .map_err(|error| Failure::from(anyhow::Error::from(error)))?;
    Ok(Exit::Ok)
}
