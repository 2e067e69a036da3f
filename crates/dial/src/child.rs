//! A child process in a process group of its own, so that processes it starts end with it. On Linux a
//! keeper stands in between, because a process can leave its group. The caller chooses the program and its
//! environment.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::net::unix::pipe;
use tokio::process::{Child as Process, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::keeper::{self, KILL_ALL};
use crate::tail::Tail;

/// Our own settings start like this, and some are secret.
const OURS: &str = "COUNTERSIGN_";
/// How long a child may take for each step of leaving.
const GRACE: Duration = Duration::from_secs(2);
/// How often to look whether a group has gone.
const LOOK: Duration = Duration::from_millis(10);
/// How long standard error is read on once the child has ended. What a child writes just before it ends is
/// there at once; only a process that left the child's group can keep the pipe open longer.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The variables of this process that a child may have: all but the gateway's own settings.
pub fn inheritable() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| !name.to_string_lossy().starts_with(OURS))
}

/// A running child. Dropping it kills the whole group.
#[derive(Debug)]
pub struct Child {
    process: Process,
    group: Option<Pid>,
    /// Whether the process is the keeper of the child.
    is_kept: bool,
    stderr: Tail,
    /// Reads standard error to its end.
    drain: Option<JoinHandle<()>>,
}

/// The ends of a child's pipes that carry messages.
#[derive(Debug)]
pub struct Pipes {
    /// What we write and it reads.
    pub stdin: pipe::Sender,
    /// What it writes and we read.
    pub stdout: ChildStdout,
}

impl Child {
    /// Starts a command; what it writes to standard error is kept if the command pipes it.
    pub fn start(mut command: Command) -> io::Result<(Self, Pipes)> {
        let program = keeper::kept_program(command.as_std());
        let is_kept = program.is_some();
        if let Some(program) = program {
            keeper::find_program(command.as_std(), program)?;
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(!is_kept)
            .spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let stdin = process.stdin.take().ok_or_else(missing)?;
        let stdout = process.stdout.take().ok_or_else(missing)?;
        let stderr = Tail::default();
        let pipe = process.stderr.take();
        let drain = pipe.map(|pipe| tokio::spawn(stderr.clone().drain(pipe)));
        let id = process.id().and_then(|id| i32::try_from(id).ok());
        let child = Self {
            process,
            group: id.and_then(Pid::from_raw),
            is_kept,
            stderr,
            drain,
        };
        let stdin = pipe::Sender::from_owned_fd(stdin.into_owned_fd()?)?;
        Ok((child, Pipes { stdin, stdout }))
    }

    /// The end of what it writes to standard error.
    pub fn stderr(&self) -> Tail {
        self.stderr.clone()
    }

    /// Waits until the child has ended by itself.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.process.wait().await
    }

    /// Ends the child and whatever it started, and reads its standard error to the end. Its standard input should be
    /// closed by now: a well-behaved child leaves because of that.
    pub async fn end(mut self) -> Option<ExitStatus> {
        let mut status = self.left().await;
        if status.is_none() {
            self.signal(Signal::TERM);
            status = self.left().await;
        }
        if status.is_none() && self.is_kept {
            self.kill();
            status = self.left().await;
        }
        // What the child started may outlive it.
        self.signal(Signal::TERM);
        if status.is_none() || !self.group_is_gone().await {
            self.signal(Signal::KILL);
        }
        // The system may now reuse the group id for another process.
        self.group = None;
        let status = match status {
            None => self.process.wait().await.ok(),
            left => left,
        };
        if let Some(drain) = self.drain.take() {
            // Whatever has not come by then is not waited for.
            drop(timeout(LAST_LINES, drain).await);
        }
        status
    }

    async fn left(&mut self) -> Option<ExitStatus> {
        timeout(GRACE, self.process.wait()).await.ok()?.ok()
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

impl Child {
    /// Kills the child and whatever it started.
    fn kill(&self) {
        let keeper = self
            .group
            .filter(|_| self.is_kept && self.process.id().is_some());
        let told = keeper.map(|keeper| kill_process(keeper, KILL_ALL));
        // Without a keeper that could be told, the group is all there is.
        if !matches!(told, Some(Ok(()))) {
            self.signal(Signal::KILL);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// Longer than any of these takes, shorter than what they start.
    const HANGS: Duration = Duration::from_mins(1);

    fn shell(script: &str) -> (Child, Pipes) {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stderr(Stdio::piped());
        Child::start(command).expect("a shell")
    }

    /// Reads until no process has the other end open.
    async fn rest(mut stdout: ChildStdout) -> String {
        let mut text = String::new();
        let read = timeout(HANGS, stdout.read_to_string(&mut text)).await;
        read.expect("a process still has the pipe open")
            .expect("text");
        text
    }

    #[tokio::test]
    async fn a_child_leaves_when_its_input_is_closed() {
        let (child, Pipes { stdin, stdout }) = shell("cat; exit 7");
        drop(stdin);
        let status = child.end().await.expect("a status");
        assert_eq!(status.code(), Some(7));
        assert_eq!(rest(stdout).await, "");
    }

    #[tokio::test]
    async fn what_a_child_started_ends_with_it() {
        let script = "sleep 1000 & echo started; read line";
        let (child, Pipes { stdin, stdout }) = shell(script);
        drop(stdin);
        child.end().await.expect("a status");
        assert_eq!(rest(stdout).await, "started\n");
    }

    #[tokio::test]
    async fn dropping_a_child_kills_the_group() {
        let (child, mut pipes) = shell("sleep 1000 & echo s; sleep 1000");
        let mut started = [0; 2];
        pipes.stdout.read_exact(&mut started).await.expect("a line");
        drop(child);
        assert_eq!(rest(pipes.stdout).await, "");
    }

    #[tokio::test]
    async fn the_last_line_of_a_child_that_ends_is_read() {
        for _ in 0..20 {
            let (mut child, _pipes) = shell("echo 'no database' >&2; exit 3");
            child.ended().await.expect("a status");
            let stderr = child.stderr();
            child.end().await.expect("a status");
            assert_eq!(stderr.lines(), ["no database"]);
        }
    }
}
