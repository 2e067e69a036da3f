//! `countersign config`: write, check and show the configuration file. The config crate decides what it may say; here
//! files are read and texts printed. Every command that needs a configuration gets it from `open`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use countersign_config::{
    self as config, Config, ConfigError, ConfigLocation, Environment, LoadedConfig, LocationSource,
    Overrides, Problem, Source, Warning,
};

use crate::report::{self, Failure, printable};
use crate::{Console, Exit};

mod check;
mod init;
mod schema;
mod show;

const EXAMPLES: &str = "\
Examples:
  countersign config init
  countersign config check
  countersign config show --config ./mcp_config.json";

/// Write, check and show the configuration file
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    Init(init::Arguments),
    Check(check::Arguments),
    Show(show::Arguments),
    Schema(schema::Arguments),
}

pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Init(arguments) => init::run(arguments, console),
        Command::Check(arguments) => check::run(arguments, console),
        Command::Show(arguments) => show::run(arguments, console),
        Command::Schema(arguments) => schema::run(arguments, console),
    }
}

/// The option itself, to flatten into a command's arguments.
#[derive(Debug, Args)]
pub(crate) struct ConfigOption {
    /// The configuration file, if not the usual one
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Variables for ${env:NAME} references, if not `env` in the data directory
    #[arg(long, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
}

impl ConfigOption {
    /// The configuration, and what it takes to read the file again while a gateway runs. `adjust` changes each
    /// configuration that was read. Prints the warnings that [`Self::open`] prints.
    pub(crate) fn follow(
        &self,
        located: &ConfigLocation,
        flags: Overrides,
        adjust: impl Fn(&mut Config) -> Result<(), Problem> + Send + Sync + 'static,
        console: &mut Console<'_>,
    ) -> Result<LoadedConfig, Failure> {
        let flags = self.with_env_file(flags);
        let source = Source::from_located(located, flags).adjusted(adjust);
        let opened = source.open().map_err(|error| refused(error, console))?;
        warn_about(located, &opened.warnings, console);
        Ok(opened)
    }

    fn with_env_file(&self, flags: Overrides) -> Overrides {
        Overrides {
            env_file: self.env_file.clone(),
            ..flags
        }
    }

    /// The file that is used. Prints its name if it is not one of ours.
    pub(crate) fn locate(&self, console: &mut Console<'_>) -> ConfigLocation {
        let located = config::locate(self.config.clone(), &Environment::process());
        if located.source == LocationSource::Mcpproxy {
            console.message(format!("using {}\n", printable(&located.to_string())));
        }
        located
    }

    /// The configuration. Its warnings are printed on stderr.
    pub(crate) fn open(
        &self,
        flags: &Overrides,
        console: &mut Console<'_>,
    ) -> Result<Config, Failure> {
        let located = self.locate(console);
        self.open_located(&located, flags, console)
    }

    /// The same for a file that was located already.
    pub(crate) fn open_located(
        &self,
        located: &ConfigLocation,
        flags: &Overrides,
        console: &mut Console<'_>,
    ) -> Result<Config, Failure> {
        let flags = self.with_env_file(flags.clone());
        let opened = config::open(located, &Environment::process(), &flags);
        let (config, warnings) = opened.map_err(|error| refused(error, console))?;
        warn_about(located, &warnings, console);
        Ok(config)
    }
}

/// Prints the warnings about a located configuration.
fn warn_about(located: &ConfigLocation, warnings: &[Warning], console: &mut Console<'_>) {
    let file = located.file();
    let file = file.map_or_else(
        || located.to_string(),
        |path| path.to_string_lossy().into_owned(),
    );
    warn(&file, warnings, console);
}

/// Prints the warnings about a file.
pub(super) fn warn(file: &str, warnings: &[Warning], console: &mut Console<'_>) {
    for warning in warnings {
        let text = printable(&warning.in_file(file));
        console.message(format!("warning: {text}\n"));
        if let Some(hint) = &warning.hint {
            console.message(format!("hint: {}\n", printable(hint)));
        }
    }
}

/// Prints every problem with its hint, or says why the file cannot be read.
pub(super) fn refused(error: ConfigError, console: &mut Console<'_>) -> Failure {
    let ConfigError::Invalid { path, problems } = error else {
        let hint = "check the path; `countersign config init` writes a new file";
        return Failure::usage(error).hint(hint);
    };
    for problem in problems {
        let text = problem.in_optional_file(path.as_deref());
        let mut failure = Failure::usage(anyhow!(text));
        if let Some(hint) = &problem.hint {
            failure = failure.hint(printable(hint));
        }
        report::failure(&failure, console);
    }
    Failure::reported()
}
