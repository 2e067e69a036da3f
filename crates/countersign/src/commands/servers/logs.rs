//! `countersign servers logs`: the last lines that a server wrote to standard error, as the running gateway holds them.

use clap::Args;
use serde_json::Value;

use crate::commands::gateway_option::GatewayOption;
use crate::format::{Format, FormatOption};
use crate::json::list;
use crate::report::{Failure, printable};
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign servers logs files
  countersign servers logs files -o json

At most 50 lines and 8 KiB are held, over restarts of the server. They may contain secrets.
Exit codes: 0 there is such a server, 1 there is none.";

/// Show the last lines a server wrote to standard error
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Logs {
    /// The server
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

pub(super) fn run(arguments: &Logs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let gateway = arguments.gateway.remote(console)?;
    let name = printable(&arguments.name);
    // What cannot be a name must not become another path.
    let is_name = countersign_config::is_server_name(&arguments.name);
    let answer = if is_name {
        Some(gateway.get(&format!("/api/v1/servers/{name}/logs"))?)
    } else {
        None
    };
    let Some(answer) = answer.filter(|answer| answer.status != 404) else {
        console.message(format!(
            "there is no server {name}; see `countersign servers list`\n"
        ));
        return Ok(Exit::No);
    };
    let logs = answer.json()?;
    let lines = list(&logs["lines"]);
    if lines.is_empty() && arguments.format.output == Format::Text {
        console.message(format!("nothing is held of the standard error of {name}\n"));
    }
    let lines = lines.iter().filter_map(Value::as_str);
    let text = || {
        lines
            .flat_map(|line| [printable(line), "\n".to_owned()])
            .collect()
    };
    arguments.format.print(&logs, text, console)
}
