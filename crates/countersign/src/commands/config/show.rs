//! `countersign config show`: what holds once file, environment and defaults are put together, as JSON without secrets.

use clap::Args;
use countersign_config::{Config, Overrides, Profile};

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
pub(crate) struct Arguments {
    #[command(flatten)]
    config: ConfigOption,
}

/// What the profile in use stands for; nothing if it is only the defaults.
fn profile(config: &Config) -> String {
    let servers = config.servers.iter().filter_map(|server| server.profile);
    if !servers
        .chain([config.profile])
        .any(|profile| profile == Profile::Hardened)
    {
        return String::new();
    }
    let settings = Profile::Hardened.settings();
    let settings: Vec<_> = settings
        .iter()
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    format!(
        "the profile hardened stands for: {}; single keys win over it\n",
        settings.join(", ")
    )
}

pub(super) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let config = arguments.config.open(&Overrides::default(), console)?;
    console.data(config.show() + "\n")?;
    console.message(profile(&config));
    Ok(Exit::Ok)
}
