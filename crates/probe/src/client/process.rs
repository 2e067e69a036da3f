//! A child process in a group of its own, so that what it starts ends with it. Its standard error
//! is drained, because a full pipe blocks the child, and only the end of it is kept.

use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

use super::target::Program;

/// Our own settings start like this, and some are secret.
const OURS: &str = "COUNTERSIGN_";
/// How long a child may take for each step of leaving.
const GRACE: Duration = Duration::from_secs(2);
/// How often to look whether a group has gone.
const LOOK: Duration = Duration::from_millis(10);
const STDERR_KEPT: usize = 2048;

/// A running child. Dropping it kills the whole group.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    tail: Tail,
}

impl Process {
    pub(super) fn start(program: &Program) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let ours = std::env::vars_os().map(|(name, _)| name);
        let ours = ours.filter(|name| name.to_string_lossy().starts_with(OURS));
        let mut command = Command::new(&program.command);
        for name in ours {
            command.env_remove(name);
        }
        command
            .args(&program.args)
            .envs(&program.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(folder) = &program.working_dir {
            command.current_dir(folder);
        }
        let mut child = command.spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let tail = Tail::default();
        if let Some(pipe) = child.stderr.take() {
            tokio::spawn(tail.clone().drain(pipe));
        }
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let process = Self { child, group, tail };
        Ok((process, stdin, stdout))
    }

    pub(super) fn tail(&self) -> Tail {
        self.tail.clone()
    }

    /// Ends the child and whatever it started. Its standard input should be closed by now: a
    /// well-behaved child leaves because of that.
    pub(super) async fn end(mut self) {
        for signal in [Signal::TERM, Signal::KILL] {
            if timeout(GRACE, self.child.wait()).await.is_ok() {
                break;
            }
            self.signal(signal);
        }
        // What the child started may outlive it.
        self.signal(Signal::TERM);
        let gone = async {
            while self
                .group
                .is_some_and(|group| test_kill_process_group(group).is_ok())
            {
                sleep(LOOK).await;
            }
        };
        if timeout(GRACE, gone).await.is_ok() {
            // The number may be somebody else's by now.
            self.group = None;
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It fails if the group is gone, which is what we want.
            let _gone = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// The end of what a child wrote to standard error.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Tail {
    /// The last lines, made safe to print.
    pub(super) fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        text.trim().chars().flat_map(char::escape_debug).collect()
    }

    async fn drain(self, mut pipe: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
            let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
            bytes.extend_from_slice(chunk.get(..length).unwrap_or_default());
            let surplus = bytes.len().saturating_sub(STDERR_KEPT);
            bytes.drain(..surplus);
        }
    }
}
