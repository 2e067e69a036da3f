//! `countersign doctor`: what is wrong with this set-up and what to type next. Looks at everything a start would need, one
//! line each, and goes on as far as it can; starts every server once. It changes nothing.

use std::time::Duration;

use clap::Args;
use countersign_config::Overrides;

use super::config::ConfigOption;
use crate::format::FormatOption;
use crate::report::Failure;
use crate::{Console, Exit};

mod check;
mod data;
mod gateway;
mod servers;
mod setup;
mod store;

use check::{Check, Status};
use gateway::Listener;
use setup::Setup;

const EXAMPLES: &str = "\
Examples:
  countersign doctor
  countersign doctor --config ./mcp_config.json -o json

One line for every check: ok, warning or error, and a hint that says what to type next. Servers are started or connected
to, greeted and asked for their tools, each once; where a gateway runs, it is asked instead. Nothing is changed.

Exit codes: 0 no errors, 1 errors.";

/// Say what is wrong with this set-up and what to type next
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    config: ConfigOption,
    /// Where state is kept, if not where the configuration says
    #[arg(long, value_name = "DIR")]
    data_dir: Option<std::path::PathBuf>,
    /// Less free space than this, in MiB, is an error
    #[arg(long, value_name = "MIB", default_value_t = 100)]
    min_free: u64,
    /// How long a server may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    timeout: u64,
    #[command(flatten)]
    format: FormatOption,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let flags = Overrides {
        data_dir: arguments.data_dir.clone(),
        env_file: arguments.config.env_file.clone(),
        ..Overrides::default()
    };
    let mut worst = Status::Ok;
    let mut tell = |checks: Vec<Check>, console: &mut Console<'_>| {
        for check in checks {
            worst = worst.max(check.status);
            arguments.format.print(&check, || check.text(), console)?;
        }
        // Servers may take their time; what is known so far should not wait for them.
        console.flush()
    };
    let setup = Setup::read(arguments.config.config.clone(), &flags);
    tell(setup.checks, console)?;
    if let Some(config) = &setup.config {
        let listener = Listener::find(config);
        tell(data::checks(config, arguments.min_free), console)?;
        let file = setup.file.as_deref();
        tell(gateway::checks(config, &listener, file), console)?;
        tell(store::checks(config), console)?;
        let timeout = Duration::from_secs(arguments.timeout);
        let servers = servers::checks(config, &setup.missing, &listener, timeout)?;
        tell(servers, console)?;
    }
    Ok(Exit::answer(worst != Status::Error))
}
