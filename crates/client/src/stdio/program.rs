//! How to start a child, and what it sees of us: a clean environment, with what every program needs
//! and what the configuration gives it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;

use countersign_dial::{inheritable, keeper};
use tokio::process::Command;

/// What a child inherits of our environment: what every program needs.
const INHERITED: [&str; 11] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "TERM", "TMPDIR",
    "TZ",
];

/// What it inherits too, to reach the network from a company: proxies, in either case, and the files with the company's
/// certificates for the libraries that do not ask the system. Without them `npx` and `uvx` cannot even fetch a server.
/// A proxy's address may hold a password; a child that is to use the proxy needs it.
const NETWORK: [&str; 12] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "NODE_USE_ENV_PROXY",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
    "GIT_SSL_CAINFO",
];

/// How to start a child.
#[derive(Clone)]
pub struct Program {
    /// The program, looked up in `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables on top of those it inherits.
    pub env: BTreeMap<String, String>,
    /// Where it starts, if not where we are.
    pub working_dir: Option<PathBuf>,
    /// What it inherits from this process.
    pub inheritance: Inheritance,
}

/// What a child inherits from this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inheritance {
    /// All of our environment but our own settings, not only what every program needs.
    pub environment: bool,
    /// Standard error; nothing of it is kept then.
    pub stderr: bool,
}

impl Program {
    pub(crate) fn command(&self) -> Command {
        let mut command = keeper::server_command(&self.command);
        command
            .args(&self.args)
            .env_clear()
            .envs(inheritable().filter(|(name, _)| self.inheritance.variable(name)))
            .envs(&self.env)
            .stderr(self.inheritance.stderr());
        if let Some(folder) = &self.working_dir {
            command.current_dir(folder);
        }
        command
    }
}

impl Default for Program {
    /// It has all of our environment but our own settings; what it writes to standard error is kept.
    fn default() -> Self {
        Self {
            command: String::new(),
            args: Vec::new(),
            env: BTreeMap::new(),
            working_dir: None,
            inheritance: Inheritance {
                environment: true,
                stderr: false,
            },
        }
    }
}

impl fmt::Debug for Program {
    /// Without the values of variables, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys())
            .field("working_dir", &self.working_dir)
            .field("inheritance", &self.inheritance)
            .finish()
    }
}

impl Inheritance {
    /// Whether a child gets a variable that it may have.
    fn variable(self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        let is_proxy = |upper: &str| upper.ends_with("_PROXY") && upper.eq_ignore_ascii_case(&name);
        self.environment
            || INHERITED.contains(&&*name)
            || NETWORK.contains(&&*name)
            || NETWORK.iter().any(|upper| is_proxy(upper))
    }

    fn stderr(self) -> Stdio {
        if self.stderr {
            Stdio::inherit()
        } else {
            Stdio::piped()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_inherits_what_it_needs_to_reach_the_network_and_no_more() {
        let gets = |name: &str| Inheritance::default().variable(OsStr::new(name));
        for name in [
            "PATH",
            "HTTPS_PROXY",
            "no_proxy",
            "SSL_CERT_FILE",
            "NODE_EXTRA_CA_CERTS",
        ] {
            assert!(gets(name), "{name}");
        }
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "MY_PROXY",
            "ssl_cert_file",
            "",
        ] {
            assert!(!gets(name), "{name}");
        }
    }
}
