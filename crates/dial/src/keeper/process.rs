//! The life of a keeper: starts the server, waits for its end or for the end of the process it is for, and leaves
//! nothing behind.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::process::Command;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitStatus, getpid, getppid, kill_process, set_child_subreaper,
    set_parent_process_death_signal,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::time::{sleep, timeout};

use super::{KILL_ALL, family, hide};

/// How long a server may take for each step of leaving.
const GRACE: Duration = Duration::from_secs(2);
/// How often to look whether the family has gone.
const LOOK: Duration = Duration::from_millis(10);
/// The kernel sends it when the process is gone that the keeper is for.
const ORPHANED: Signal = Signal::USR1;
/// The exit codes of a shell for a program that cannot be started.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;

/// Keeps a server to the end; gives the exit code.
pub(super) fn keep(mut arguments: impl Iterator<Item = OsString>) -> u8 {
    let parent = arguments.next().and_then(|id| id.to_str()?.parse().ok());
    let (Some(parent), Some(program)) = (parent.and_then(Pid::from_raw), arguments.next()) else {
        return NOT_RUN;
    };
    let mut command = Command::new(&program);
    command.args(arguments);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let kept = runtime.and_then(|runtime| runtime.block_on(run(parent, command)));
    match kept {
        Ok(status) => end_like(status),
        Err(error) => {
            let program = program.to_string_lossy();
            let program: String = program.chars().flat_map(char::escape_debug).collect();
            // The gateway may be gone; then there is no reader.
            drop(writeln!(io::stderr(), "cannot start {program}: {error}"));
            match error.kind() {
                io::ErrorKind::NotFound => NOT_FOUND,
                _ => NOT_RUN,
            }
        }
    }
}

async fn run(parent: Pid, mut command: Command) -> io::Result<Option<WaitStatus>> {
    // Signals first: from here on none of them ends the keeper before its server.
    let mut signals = KeeperSignals::listen()?;
    hide();
    set_child_subreaper(Some(getpid()))?;
    set_parent_process_death_signal(Some(ORPHANED))?;
    if getppid() != Some(parent) {
        return Ok(None);
    }
    let server = command.spawn()?.id();
    let mut kept = KeptServer {
        parent,
        server: i32::try_from(server).ok().and_then(Pid::from_raw),
        status: None,
    };
    release_streams()?;
    kept.watch(&mut signals).await;
    Ok(kept.status)
}

/// Only the server keeps its streams, so that the gateway learns at once when the server closes them.
fn release_streams() -> io::Result<()> {
    let null = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(())
}

/// The signals that a keeper listens to.
struct KeeperSignals {
    child_ended: Signals,
    orphaned: Signals,
    kill_all: Signals,
    /// Meant for the server, which is in the same process group.
    _ignored: Signals,
}

impl KeeperSignals {
    fn listen() -> io::Result<Self> {
        let stream = |one: Signal| signal(SignalKind::from_raw(one.as_raw()));
        Ok(Self {
            child_ended: stream(Signal::CHILD)?,
            orphaned: stream(ORPHANED)?,
            kill_all: stream(KILL_ALL)?,
            _ignored: stream(Signal::TERM)?,
        })
    }
}

struct KeptServer {
    /// The process it is for.
    parent: Pid,
    server: Option<Pid>,
    /// How the server ended.
    status: Option<WaitStatus>,
}

impl KeptServer {
    /// Until nothing is left.
    async fn watch(&mut self, signals: &mut KeeperSignals) {
        loop {
            tokio::select! {
                biased;
                _ = signals.kill_all.recv() => break,
                _ = signals.orphaned.recv() => {
                    // The kernel says so of the thread that started the keeper, which may have ended alone.
                    if getppid() == Some(self.parent) {
                        continue;
                    }
                    // Its input is closed by now: a well-behaved server leaves because of that.
                    self.leave(signals).await;
                    family::signal(Signal::TERM);
                    self.leave(signals).await;
                    break;
                }
                _ = signals.child_ended.recv() => {
                    self.reap();
                    if self.status.is_some() {
                        family::signal(Signal::TERM);
                        self.leave(signals).await;
                        break;
                    }
                }
            }
        }
        let (server, status) = (self.server, &mut self.status);
        family::kill(|process, ended| note(server, status, process, ended));
    }

    /// Waits a while until the whole family has left, or is to be killed.
    async fn leave(&mut self, signals: &mut KeeperSignals) {
        let left = async {
            while !self.reap() {
                tokio::select! {
                    biased;
                    _ = signals.kill_all.recv() => return,
                    () = sleep(LOOK) => {}
                }
            }
        };
        drop(timeout(GRACE, left).await);
    }

    fn reap(&mut self) -> bool {
        let (server, status) = (self.server, &mut self.status);
        family::reap(|process, ended| note(server, status, process, ended))
    }
}

fn note(server: Option<Pid>, status: &mut Option<WaitStatus>, process: Pid, ended: WaitStatus) {
    if Some(process) == server {
        *status = Some(ended);
    }
}

/// Ends as the server did: by the same signal, or with its exit code.
fn end_like(status: Option<WaitStatus>) -> u8 {
    let Some(status) = status else {
        return NOT_RUN;
    };
    let Some(number) = status.terminating_signal() else {
        return status.exit_status().map_or(NOT_RUN, exit_code);
    };
    if let Some(signal) = Signal::from_named_raw(number) {
        let _unsent = kill_process(getpid(), signal);
    }
    // A signal that a keeper listens to does not end it.
    exit_code(number.saturating_add(128))
}

fn exit_code(number: i32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}
