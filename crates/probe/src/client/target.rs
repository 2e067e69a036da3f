//! Where the server under test is: a program to start, or one HTTP address with its headers. What may be secret of
//! either is never shown.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;

use countersign_dial::{Site, SiteError, inheritable, keeper};
use tokio::process::Command;

/// A server to talk to.
#[derive(Clone, Debug)]
pub enum Target {
    /// A child process that speaks over its standard input and output.
    Stdio(Program),
    /// A Streamable HTTP endpoint.
    Http(Site),
}

impl Target {
    /// An endpoint without headers of its own.
    pub fn url(url: &str) -> Result<Self, SiteError> {
        Site::at(url).map(Self::Http)
    }

    /// A program with these arguments.
    pub fn command(command: impl Into<String>, args: impl IntoIterator<Item = String>) -> Self {
        Self::Stdio(Program {
            command: command.into(),
            args: args.into_iter().collect(),
            ..Program::default()
        })
    }
}

/// How to start a child process. It sees our environment but for our own settings.
#[derive(Clone, Default)]
pub struct Program {
    /// The program, looked up in `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables on top of the environment.
    pub env: BTreeMap<String, String>,
    /// Where it starts, if not where we are.
    pub working_dir: Option<PathBuf>,
}

impl Program {
    pub(super) fn command_line(&self) -> Command {
        let mut command = keeper::server_command(&self.command);
        command
            .args(&self.args)
            .env_clear()
            .envs(inheritable())
            .envs(&self.env)
            .stderr(Stdio::piped());
        if let Some(folder) = &self.working_dir {
            command.current_dir(folder);
        }
        command
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys())
            .field("working_dir", &self.working_dir)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let secret = BTreeMap::from([("authorization".to_owned(), "s3cret".to_owned())]);
        let site = Site::new("http://a/", &secret).expect("an address");
        let program = Program {
            env: secret,
            ..Program::default()
        };
        assert_eq!(site.headers["authorization"], "s3cret");
        assert!(!format!("{site:?}{program:?}").contains("s3cret"));
    }
}
