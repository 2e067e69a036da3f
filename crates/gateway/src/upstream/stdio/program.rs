//! How to start a child, and what it sees of us: a clean environment, with what every program needs
//! and what the configuration gives it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;

use countersign_dial::{inheritable, keeper};
use tokio::process::Command;

use crate::config::Secret;

/// What a child inherits of our environment: no secret has a place among these.
const INHERITED: [&str; 11] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "TERM", "TMPDIR",
    "TZ",
];

/// How to start a child.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, Secret>,
    pub(crate) working_dir: Option<PathBuf>,
    pub(crate) shares: Shares,
}

/// What a child has of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shares {
    /// All of our environment but our own settings, not only what every program needs.
    pub(crate) environment: bool,
    /// Standard error; nothing of it is kept then.
    pub(crate) stderr: bool,
}

impl Program {
    pub(super) fn command(&self) -> Command {
        let given = self.env.iter();
        let mut command = keeper::server_command(&self.command);
        command
            .args(&self.args)
            .env_clear()
            .envs(inheritable().filter(|(name, _)| self.shares.variable(name)))
            .envs(given.map(|(name, value)| (name, value.expose())))
            .stderr(self.shares.stderr());
        if let Some(folder) = &self.working_dir {
            command.current_dir(folder);
        }
        command
    }
}

impl Shares {
    /// Whether a child gets a variable that it may have.
    fn variable(self, name: &OsStr) -> bool {
        self.environment || INHERITED.contains(&&*name.to_string_lossy())
    }

    fn stderr(self) -> Stdio {
        if self.stderr {
            Stdio::inherit()
        } else {
            Stdio::piped()
        }
    }
}
