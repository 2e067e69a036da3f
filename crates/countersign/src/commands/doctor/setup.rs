//! The configuration as the doctor reads it: everything that is wrong with it is a line, and variables that are not set
//! do not keep the rest from being looked at.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use countersign_config::{
    self as config, Config, ConfigError, ConfigLocation, EnvFile, Environment, LocationSource,
    Otlp, Overrides, Problem,
};

use super::check::Check;
use crate::commands::import::{STAND_IN, is_secret};
use crate::files;
use crate::report::{counted, with_cause};

/// Variables with our own settings. They need not be set.
const SETTINGS: [&str; 8] = [
    "COUNTERSIGN_CONFIG",
    "COUNTERSIGN_ENV_FILE",
    "COUNTERSIGN_LISTEN",
    "COUNTERSIGN_DATA_DIR",
    "COUNTERSIGN_API_KEY",
    "COUNTERSIGN_ADMIN_KEY",
    "COUNTERSIGN_STORAGE_URL",
    "COUNTERSIGN_LOG",
];
/// Clocks of two machines that share a file may differ by this much.
const SKEW: Duration = Duration::from_mins(1);

/// What a start would find.
#[derive(Debug, Default)]
pub(super) struct Setup {
    pub(super) checks: Vec<Check>,
    /// The file, if there is one.
    pub(super) file: Option<PathBuf>,
    /// What holds, with a stand-in for each missing variable; `None` if it cannot be used.
    pub(super) config: Option<Config>,
    /// Variables that are referred to and not set.
    pub(super) missing: BTreeSet<String>,
}

impl Setup {
    pub(super) fn read(flag: Option<PathBuf>, flags: &Overrides) -> Self {
        let environment = Environment::process();
        let located = config::locate(flag, &environment);
        let mut setup = Self {
            file: located.file().map(Path::to_owned),
            ..Self::default()
        };
        let text = match located.file().map(config::read).transpose() {
            Ok(text) => text,
            Err(error) => {
                setup.refuse(&located, &error);
                return setup;
            }
        };
        let variables = EnvFile::locate(text.as_deref(), &environment, flags);
        match variables.clone().read() {
            Ok(read) => {
                setup.open(&located, &environment, &read, flags);
                setup.env_file(&read);
            }
            Err(error) => setup.unreadable_env_file(&variables, &error),
        }
        setup
    }

    /// Reads the file twice: as it is, for what is wrong with it, and with stand-ins, to go on.
    fn open(
        &mut self,
        located: &ConfigLocation,
        environment: &Environment<'_>,
        variables: &EnvFile,
        flags: &Overrides,
    ) {
        let missing = RefCell::new(BTreeSet::new());
        let known = environment.with_fallback(&variables.values);
        let lookup = |name: &str| {
            let found = known.get(name);
            let is_setting = SETTINGS.contains(&name) || Otlp::VARIABLES.contains(&name);
            if found.is_some() || is_setting {
                return found;
            }
            missing.borrow_mut().insert(name.to_owned());
            Some(STAND_IN.to_owned())
        };
        let standing_in = Environment::new(lookup, environment.home().map(Path::to_owned));
        match config::open(located, &standing_in, flags) {
            Ok((config, warnings)) => {
                self.add_config(located, &config);
                let exposure = config::exposure_warning(&config);
                let warnings = warnings.iter().chain(&exposure);
                let warnings = warnings.map(|warning| check(located, warning, Check::warning));
                self.checks.extend(warnings);
                self.config = Some(config);
            }
            Err(error) => self.refuse(located, &error),
        }
        drop(standing_in);
        self.missing = missing.into_inner();
        let opened = config::open(located, environment, flags);
        let complete = opened.and_then(|(config, _)| config.require_variables());
        if let (Some(_), Err(error)) = (&self.config, complete) {
            let problems = error.problems().iter();
            self.checks
                .extend(problems.map(|problem| unset(located, problem, variables)));
        }
        self.exposed(located);
    }

    fn add_config(&mut self, located: &ConfigLocation, config: &Config) {
        let servers = config.servers.iter().filter(|server| server.enabled);
        let servers = servers.count();
        self.checks.push(match located.source {
            LocationSource::Nowhere => Check::warning(
                "config",
                format!("{located}; no server is configured"),
                "run: countersign import   (takes over servers of desktop clients), or: countersign config init",
            ),
            _ if servers == 0 => Check::warning(
                "config",
                format!("{located}: no server is configured"),
                "run: countersign import   (takes over servers of desktop clients), or add some under \"mcpServers\"",
            ),
            _ => Check::ok("config", format!("{located}: {}", counted(servers, "server"))),
        });
        let changed = located
            .file()
            .and_then(|path| path.metadata().ok()?.modified().ok());
        if changed.is_some_and(|changed| changed > SystemTime::now() + SKEW) {
            self.checks.push(Check::warning(
                "clock",
                "the configuration was written in the future",
                "set the clock, for example: timedatectl set-ntp true",
            ));
        }
    }

    fn refuse(&mut self, located: &ConfigLocation, error: &ConfigError) {
        let problems = error.problems();
        if problems.is_empty() {
            let hint = "check the path; `countersign config init` writes a new file";
            let check = Check::error("config", with_cause(error), hint);
            self.checks.push(check);
        }
        let problems = problems.iter();
        self.checks
            .extend(problems.map(|problem| check(located, problem, Check::error)));
    }

    /// Secrets that stand in a file others may read.
    fn exposed(&mut self, located: &ConfigLocation) {
        let (Some(path), Some(config)) = (located.file(), &self.config) else {
            return;
        };
        let literal = config.servers.iter().any(|server| {
            let mut values = server.transport.secrets().iter();
            values.any(|(name, value)| {
                !value.shown().contains("from") && is_secret(name, value.expose())
            })
        });
        if literal && files::mode(path).is_some_and(|mode| mode & 0o077 != 0) {
            let path = path.display();
            let hint = format!("run: chmod 600 {path}");
            let message = format!("{path} holds secrets of servers and others may read it");
            self.checks.push(Check::warning("config", message, hint));
        }
    }

    fn env_file(&mut self, variables: &EnvFile) {
        let Some(path) = variables.path.as_deref().filter(|path| path.exists()) else {
            return;
        };
        // There has been a warning already if others may read it.
        let count = counted(variables.values.len(), "variable");
        let message = format!("{}: {count}", path.display());
        self.checks.push(Check::ok("env file", message));
    }

    fn unreadable_env_file(&mut self, variables: &EnvFile, error: &ConfigError) {
        let path = variables.path.clone().unwrap_or_default();
        let first = error.problems().first();
        let hint = first.and_then(|problem| problem.hint.clone());
        let hint = hint.unwrap_or_else(|| {
            format!("check {}, or name another with --env-file", path.display())
        });
        let check = Check::error("env file", with_cause(error), hint);
        self.checks.push(check);
    }
}

/// A problem of the configuration as a line.
fn check(
    located: &ConfigLocation,
    problem: &Problem,
    make: fn(&'static str, String, String) -> Check,
) -> Check {
    let hint = problem.hint.clone();
    let hint = hint.unwrap_or_else(|| "see docs/reference/configuration.md".to_owned());
    make("config", problem.in_optional_file(located.file()), hint)
}

/// A variable that is not set, with the command that sets it.
fn unset(located: &ConfigLocation, problem: &Problem, variables: &EnvFile) -> Check {
    let name = problem
        .message
        .strip_prefix("the environment variable ")
        .and_then(|rest| rest.split(' ').next());
    let Some((name, path)) = name.zip(variables.path.as_deref()) else {
        return check(located, problem, Check::error);
    };
    let message = problem.in_optional_file(located.file());
    let hint = format!(
        "run: echo \"{name}='…'\" >> {path}; chmod 600 {path}   (with the value for …)",
        path = path.display()
    );
    Check::error("environment", message, hint)
}
