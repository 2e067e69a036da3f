//! A child process in a group of its own, so that what it starts ends with it. It sees a clean
//! environment: what every program needs, and what the configuration gives it. Its standard error
//! is drained, because a full pipe blocks the child, and only the end of it is kept.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::{sleep, timeout};

use crate::config::Secret;

/// What a child inherits of our environment: no secret has a place among these.
const INHERITED: [&str; 11] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "TERM", "TMPDIR",
    "TZ",
];
/// Our own settings start like this, and some are secret.
const OURS: &str = "COUNTERSIGN_";
/// How long a child may take for each step of leaving.
const GRACE: Duration = Duration::from_secs(2);
/// How often to look whether a group has gone.
const LOOK: Duration = Duration::from_millis(10);
const STDERR_KEPT: usize = 2048;

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

impl Shares {
    /// Whether a child gets a variable of ours.
    fn variable(self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        if self.environment {
            !name.starts_with(OURS)
        } else {
            INHERITED.contains(&&*name)
        }
    }

    fn stderr(self) -> Stdio {
        if self.stderr {
            Stdio::inherit()
        } else {
            Stdio::piped()
        }
    }
}

/// A running child.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    pub(super) stderr: Stderr,
}

/// The ends of a child's pipes that carry messages.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: pipe::Sender,
    pub(super) stdout: ChildStdout,
}

impl Process {
    pub(super) fn start(program: &Program) -> io::Result<(Self, Pipes)> {
        let mut command = Command::new(&program.command);
        command
            .args(&program.args)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| program.shares.variable(name)))
            .envs(
                program
                    .env
                    .iter()
                    .map(|(name, value)| (name, value.expose())),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(program.shares.stderr())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(folder) = &program.working_dir {
            command.current_dir(folder);
        }
        let mut child = command.spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = Stderr::default();
        if let Some(pipe) = child.stderr.take() {
            tokio::spawn(stderr.clone().drain(pipe));
        }
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let stdin = pipe::Sender::from_owned_fd(stdin.into_owned_fd()?)?;
        Ok((
            Self {
                child,
                group,
                stderr,
            },
            Pipes { stdin, stdout },
        ))
    }

    /// Waits until the child has ended by itself.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends the child and whatever it started. Its standard input should be closed by now: a
    /// well-behaved child leaves because of that.
    pub(super) async fn end(mut self) -> Option<ExitStatus> {
        let mut status = self.left().await;
        if status.is_none() {
            self.signal(Signal::TERM);
            status = self.left().await;
        }
        // What the child started may outlive it.
        self.signal(Signal::TERM);
        if status.is_none() || !self.group_is_gone().await {
            self.signal(Signal::KILL);
        }
        match status {
            None => self.child.wait().await.ok(),
            left => left,
        }
    }

    async fn left(&mut self) -> Option<ExitStatus> {
        timeout(GRACE, self.child.wait()).await.ok()?.ok()
    }

    async fn group_is_gone(&self) -> bool {
        let Some(group) = self.group else {
            return true;
        };
        let gone = async {
            while test_kill_process_group(group).is_ok() {
                sleep(LOOK).await;
            }
        };
        timeout(GRACE, gone).await.is_ok()
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It fails if the group is gone, which is what we want.
            let _gone = kill_process_group(group, signal);
        }
    }
}

/// The end of what a child wrote to standard error.
#[derive(Clone, Debug, Default)]
pub(super) struct Stderr {
    tail: Arc<Mutex<Vec<u8>>>,
}

impl Stderr {
    /// The last lines, made safe for a log.
    pub(super) fn tail(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        text.trim().chars().flat_map(char::escape_debug).collect()
    }

    async fn drain(self, mut pipe: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
            let new = chunk.get(..length).unwrap_or_default();
            let new = new
                .get(length.saturating_sub(STDERR_KEPT)..)
                .unwrap_or_default();
            let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
            let surplus = (tail.len() + new.len()).saturating_sub(STDERR_KEPT);
            let surplus = surplus.min(tail.len());
            tail.drain(..surplus);
            tail.extend_from_slice(new);
        }
    }
}
