//! `countersign config show`: what holds once file, environment and defaults are put together, as JSON without secrets.

use clap::Args;
use countersign_gateway::config::Overrides;

use super::ConfigOption;
use crate::report::Failure;
use crate::{Console, Exit};

const EXAMPLES: &str = "\
Examples:
  countersign config show
  countersign config show --config ./mcp_config.json | jq .output_validation";

/// Print the configuration that holds, as JSON without secrets
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    config: ConfigOption,
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match arguments.config.open(&Overrides::default(), console) {
        Ok((config, _)) => {
            console.data(config.show() + "\n")?;
            Ok(Exit::Ok)
        }
        Err(exit) => Ok(exit),
    }
}
