//! Which gateway a command is about: the one whose configuration and data directory hold here, unless flags say otherwise.

use std::path::PathBuf;

use clap::Args;
use countersign_gateway::config::{Config, Overrides};

use super::config::ConfigOption;
use crate::{Console, Exit};

/// The options themselves, to flatten into a command's arguments.
#[derive(Debug, Args)]
pub(super) struct Whose {
    #[command(flatten)]
    config: ConfigOption,
    /// The data directory, if not where the configuration says
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl Whose {
    /// What holds. `Err`: what is wrong has been said, and this is how to end.
    pub(super) fn config(&self, console: &mut Console<'_>) -> Result<Config, Exit> {
        let flags = Overrides {
            data_dir: self.data_dir.clone(),
            ..Overrides::default()
        };
        self.config.open(&flags, console).map(|(config, _)| config)
    }
}
