//! `countersign config`: write, check and show the configuration file. Everything about what it may say is the gateway
//! crate's; here are files in and text out. `open` is the way in for every command that needs a configuration.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use countersign_config::{
    self as config, Config, ConfigError, Environment, Located, Opened, Origin, Overrides, Problem,
    Source, Warning,
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
    /// What holds with this file, ready to be followed: the file may change while a gateway runs. `adjust` has the last word on it.
    /// Says what [`Self::open`] says.
    pub(crate) fn follow(
        &self,
        located: &Located,
        flags: Overrides,
        adjust: impl Fn(&mut Config) -> Result<(), Problem> + Send + Sync + 'static,
        console: &mut Console<'_>,
    ) -> Result<Opened, Failure> {
        let flags = self.with_env_file(flags);
        match Source::from_located(located, flags).adjusted(adjust).open() {
            Ok(opened) => {
                say(located, &opened.warnings, console);
                Ok(opened)
            }
            Err(error) => Err(Failure::reported(refuse(&error, console))),
        }
    }

    fn with_env_file(&self, flags: Overrides) -> Overrides {
        Overrides {
            env_file: self.env_file.clone(),
            ..flags
        }
    }

    /// Which file holds. Says so if it is not one of ours.
    pub(crate) fn locate(&self, console: &mut Console<'_>) -> Located {
        let located = config::locate(self.config.clone(), &Environment::process());
        if located.source == Origin::Mcpproxy {
            console.message(format!("using {}\n", printable(&located.to_string())));
        }
        located
    }

    /// What holds, with everything worth knowing about it said on stderr.
    pub(crate) fn open(
        &self,
        flags: &Overrides,
        console: &mut Console<'_>,
    ) -> Result<(Config, Located), Failure> {
        let located = self.locate(console);
        let config = self.open_located(&located, flags, console)?;
        Ok((config, located))
    }

    /// The same for a file that was located already.
    pub(crate) fn open_located(
        &self,
        located: &Located,
        flags: &Overrides,
        console: &mut Console<'_>,
    ) -> Result<Config, Failure> {
        let flags = self.with_env_file(flags.clone());
        match config::open(located, &Environment::process(), &flags) {
            Ok((config, warnings)) => {
                say(located, &warnings, console);
                Ok(config)
            }
            Err(error) => Err(Failure::reported(refuse(&error, console))),
        }
    }
}

/// Says what a configuration that was found is warned about.
fn say(located: &Located, warnings: &[Warning], console: &mut Console<'_>) {
    let file = located.file();
    let file = file.map_or_else(
        || located.to_string(),
        |path| path.to_string_lossy().into_owned(),
    );
    warn(&file, warnings, console);
}

/// Says what a configuration is warned about.
fn warn(file: &str, warnings: &[Warning], console: &mut Console<'_>) {
    for warning in warnings {
        let text = printable(&warning.in_file(file));
        console.message(format!("warning: {text}\n"));
        if let Some(hint) = &warning.hint {
            console.message(format!("hint: {}\n", printable(hint)));
        }
    }
}

/// Says everything that is wrong, each with its hint.
fn refuse(error: &ConfigError, console: &mut Console<'_>) -> Exit {
    let ConfigError::Invalid { path, problems } = error else {
        let hint = "check the path; `countersign config init` writes a new file";
        let failure = Failure::usage(unreadable(error)).hint(hint);
        return report::failure(&failure, console);
    };
    for problem in problems {
        let text = match path {
            Some(path) => problem.in_file(path.display()),
            None => problem.to_string(),
        };
        let mut failure = Failure::usage(anyhow!(text));
        if let Some(hint) = &problem.hint {
            failure = failure.hint(printable(hint));
        }
        report::failure(&failure, console);
    }
    Exit::Usage
}

/// The error with its causes, which are not ours to keep.
fn unreadable(error: &ConfigError) -> anyhow::Error {
    let text = error.to_string();
    match std::error::Error::source(error) {
        Some(cause) => anyhow!(cause.to_string()).context(text),
        None => anyhow!(text),
    }
}
