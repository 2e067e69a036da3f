//! A keeper stands between this process and a server that runs as its child: a process of our own executable that
//! starts the server, adopts whatever the server leaves behind, and ends all of it when the server ends, when it is
//! told to, or when this process is gone, however that came about. Only Linux can do that; elsewhere servers are
//! started without a keeper, in a process group of their own.
//!
//! Streams and exit code of the server are not the keeper's business: the server inherits the streams, and the keeper
//! ends as the server did.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Access, access};
use rustix::process::Signal;
use tokio::process::Command;

#[cfg(target_os = "linux")]
mod family;
#[cfg(target_os = "linux")]
mod process;

/// The first argument of a keeper. What follows it: the id of the process it is for, the server's program, and the
/// program's arguments.
const ROLE: &str = "keep-server";
/// This executable, even if its file has been replaced since.
const OURSELVES: &str = "/proc/self/exe";
/// Where programs are looked for if nothing says where.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Tells a keeper to kill everything it keeps.
pub(crate) const KILL_ALL: Signal = Signal::USR2;

/// Whether this executable can be a keeper: only one whose `main` begins with [`enter`] can.
static INSTALLED: OnceLock<()> = OnceLock::new();

/// To be called first in `main`. If this process was started as a keeper, keeps its server to the end and gives the
/// exit code; otherwise servers that this process starts will each have a keeper.
pub fn enter() -> Option<u8> {
    #[cfg(target_os = "linux")]
    {
        let mut arguments = std::env::args_os().skip(1);
        if arguments.next().is_some_and(|role| role == ROLE) {
            return Some(process::keep(arguments));
        }
        // Without /proc this executable cannot be found again.
        if Path::new(OURSELVES).exists() {
            INSTALLED.get_or_init(|| ());
        }
    }
    None
}

/// Makes what this process has in memory and in its environment unreadable for other processes of the same user, as
/// servers are: `/proc/PID/environ` and `/proc/PID/mem` are then for root only, and there are no core dumps.
pub fn hide() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // An old kernel without it is no reason not to serve.
        let _unsupported = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// A command that runs a server's program, with a keeper where there can be one. Arguments, environment and working
/// directory are set on it as for the program itself.
pub fn server_command(program: impl AsRef<OsStr>) -> Command {
    if INSTALLED.get().is_none() {
        return Command::new(program);
    }
    let mut command = Command::new(OURSELVES);
    command
        .arg(ROLE)
        .arg(std::process::id().to_string())
        .arg(program);
    command
}

/// The program that a command's keeper is to start; nothing if it has no keeper.
pub(crate) fn kept_program(command: &std::process::Command) -> Option<&OsStr> {
    let kept = INSTALLED.get().is_some() && command.get_program() == OURSELVES;
    command.get_args().nth(2).filter(|_| kept)
}

/// Whether the program of a command can be found, as starting it would say; the keeper could say it only with its
/// exit code.
pub(crate) fn find_program(command: &std::process::Command, program: &OsStr) -> io::Result<()> {
    let folder = command.get_current_dir();
    let place = |path: PathBuf| folder.map_or_else(|| path.clone(), |folder| folder.join(&path));
    if program.as_encoded_bytes().contains(&b'/') {
        return executable(&place(program.into()));
    }
    let given = command.get_envs().find(|(name, _)| *name == "PATH");
    let path = given.and_then(|(_, path)| path.map(OsStr::to_owned));
    let path: OsString = path
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_else(|| DEFAULT_PATH.into());
    let mut error = io::Error::from(rustix::io::Errno::NOENT);
    for folder in std::env::split_paths(&path) {
        match executable(&place(folder.join(program))) {
            Ok(()) => return Ok(()),
            Err(why) if why.kind() == io::ErrorKind::PermissionDenied => error = why,
            Err(_) => {}
        }
    }
    Err(error)
}

fn executable(path: &Path) -> io::Result<()> {
    if path.metadata()?.is_dir() {
        return Err(rustix::io::Errno::ACCESS.into());
    }
    Ok(access(path, Access::EXEC_OK)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(program: &str, path: &str, folder: &str) -> Result<(), Option<i32>> {
        let mut command = std::process::Command::new("x");
        command.env("PATH", path).current_dir(folder);
        find_program(&command, OsStr::new(program)).map_err(|error| error.raw_os_error())
    }

    #[test]
    fn a_program_is_found_as_starting_it_would_find_it() {
        let (missing, forbidden) = (Err(Some(2)), Err(Some(13)));
        assert_eq!(found("sh", "/nowhere:/bin", "/"), Ok(()));
        assert_eq!(found("sh", "/nowhere", "/"), missing);
        assert_eq!(found("sh", "bin", "/"), Ok(()));
        assert_eq!(found("./sh", "", "/bin"), Ok(()));
        assert_eq!(found("./sh", "/bin", "/"), missing);
        assert_eq!(found("/bin", "", "/"), forbidden);
        assert_eq!(found("/proc/self/status", "", "/"), forbidden);
        assert_eq!(found("status", "/proc/self", "/"), forbidden);
    }
}
