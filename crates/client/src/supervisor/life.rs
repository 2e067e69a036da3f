//! How one life of a server went, from its start to its end, and how that is said to an operator.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::ServerExit;
use crate::authorizer::NoAuthorization;
use crate::server_error::ServerError;

/// How one life of a server went.
pub(super) struct Life {
    /// Why it never served.
    pub(super) failed: Option<ServerError>,
    /// Whether it could be called at all.
    pub(super) served: bool,
    /// What the process of a child ended with.
    pub(super) status: Option<ExitStatus>,
    /// The last lines it wrote to standard error, made safe for a terminal.
    pub(super) stderr: Vec<String>,
}

impl Life {
    /// A life without a process: it served unless it failed.
    pub(super) fn without_process(failed: Option<ServerError>) -> Self {
        Self {
            served: failed.is_none(),
            failed,
            status: None,
            stderr: Vec::new(),
        }
    }

    /// Whether an operator has to log in before the server can be called.
    pub(super) fn needs_login(&self) -> bool {
        let failed = self.failed.as_ref();
        matches!(
            failed,
            Some(ServerError::Unauthorized(NoAuthorization::NeedsLogin(_)))
        )
    }

    /// Whether the child ended because of the greeting, so that it may survive the one of the other era.
    pub(super) fn died_of_the_greeting(&self) -> bool {
        !self.served && self.left()
    }

    /// Whether the server went by itself.
    fn left(&self) -> bool {
        matches!(&self.failed, None | Some(ServerError::Unreachable))
    }

    /// Why the server cannot be called any more.
    pub(super) fn reason(&self) -> String {
        let status = self.status.filter(|_| self.left()).and_then(words);
        match (status, &self.failed) {
            (Some(status), _) if self.served => format!("it ended with {status}"),
            (Some(status), _) => format!("it ended with {status} before it spoke MCP"),
            (None, Some(error)) => error.to_string(),
            (None, None) => ServerError::Unreachable.to_string(),
        }
    }
}

fn words(status: ExitStatus) -> Option<String> {
    let code = status.code().map(|code| format!("exit code {code}"));
    code.or_else(|| status.signal().map(|signal| format!("signal {signal}")))
}

impl From<Life> for ServerExit {
    fn from(life: Life) -> Self {
        Self {
            served: life.served,
            code: life.status.filter(|_| life.left()).and_then(code),
            stderr: life.stderr.join("\n"),
            error: life.failed,
        }
    }
}

fn code(status: ExitStatus) -> Option<u8> {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))?;
    u8::try_from(code).ok()
}
