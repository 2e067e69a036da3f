//! Which gateway a command asks: the one of the usual configuration and data directory, unless flags name another.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use countersign_config::{Config, Overrides, Source};
use serde_json::Value;

use super::config::ConfigOption;
use super::demo;
use crate::format::{Format, FormatOption};
use crate::json::list;
use crate::remote::Remote;
use crate::report::Failure;
use crate::{Console, Exit};

/// The options themselves, to flatten into a command's arguments.
#[derive(Debug, Args)]
pub(super) struct GatewayOption {
    #[command(flatten)]
    config: ConfigOption,
    /// The data directory, if not where the configuration says
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The gateway of `serve --demo`, with its own data directory and no configuration file
    #[arg(long, conflicts_with = "config")]
    demo: bool,
}

impl GatewayOption {
    /// The configuration of that gateway.
    pub(super) fn config(&self, console: &mut Console<'_>) -> Result<Config, Failure> {
        let mut flags = Overrides {
            data_dir: self.data_dir.clone(),
            ..Overrides::default()
        };
        if self.demo {
            let located = demo::configuration(&mut flags);
            return self.config.open_located(&located, &flags, console);
        }
        self.config.open(&flags, console)
    }

    /// The configuration file of that gateway, to be changed.
    pub(super) fn source(&self, console: &mut Console<'_>) -> Result<Source, Failure> {
        if self.demo {
            let error = anyhow!("the gateway of `serve --demo` has no configuration file");
            return Err(Failure::usage(error).hint("start `countersign serve` with --config FILE"));
        }
        let flags = Overrides {
            data_dir: self.data_dir.clone(),
            env_file: self.config.env_file.clone(),
            ..Overrides::default()
        };
        let located = self.config.locate(console);
        if located.path.is_none() {
            let error = anyhow!(
                "no home directory is known, so there is no usual place for the configuration"
            );
            return Err(Failure::usage(error).hint("name one with --config"));
        }
        Ok(Source::from_located(&located, flags))
    }

    /// That gateway, which has to run.
    pub(super) fn remote(&self, console: &mut Console<'_>) -> Result<Remote, Failure> {
        Remote::require(&self.config(console)?)
    }
}

// No documentation comment: it would be the help text of every command that has these arguments.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    gateway: GatewayOption,
    #[command(flatten)]
    format: FormatOption,
}

impl ListArguments {
    /// Prints all the running gateway has of one kind, `/api/v1/<kind>`.
    pub(super) fn run(
        &self,
        kind: &str,
        rendered: impl Fn(&[Value]) -> String,
        console: &mut Console<'_>,
    ) -> Result<Exit, Failure> {
        let gateway = self.gateway.remote(console)?;
        let listed = gateway.get(&format!("/api/v1/{kind}"))?.json()?;
        let listed = list(&listed[kind]);
        match self.format.output {
            Format::Json => listed.iter().try_for_each(|one| console.json(one))?,
            Format::Text => console.data(rendered(listed))?,
        }
        Ok(Exit::Ok)
    }
}
