//! How one life of a child went, from its start to its end, and how that is said to an operator.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::trouble::Trouble;

/// How one life of a child went.
pub(super) struct Life {
    /// Why it never served.
    pub(super) failed: Option<Trouble>,
    /// Whether it could be called at all.
    pub(super) served: bool,
    pub(super) status: Option<ExitStatus>,
    /// The last lines it wrote to standard error, made safe for a terminal.
    pub(super) stderr: Vec<String>,
}

impl Life {
    pub(super) fn failed(error: Trouble) -> Self {
        Self {
            failed: Some(error),
            served: false,
            status: None,
            stderr: Vec::new(),
        }
    }

    /// Whether the child went by itself.
    pub(super) fn left(&self) -> bool {
        matches!(&self.failed, None | Some(Trouble::Unreachable))
    }

    /// Why the child does not run any more.
    pub(super) fn reason(&self) -> String {
        let status = self.status.filter(|_| self.left()).and_then(words);
        match (status, &self.failed) {
            (Some(status), _) if self.served => format!("it ended with {status}"),
            (Some(status), _) => format!("it ended with {status} before it spoke MCP"),
            (None, Some(error)) => error.to_string(),
            (None, None) => Trouble::Unreachable.to_string(),
        }
    }
}

fn words(status: ExitStatus) -> Option<String> {
    let code = status.code().map(|code| format!("exit code {code}"));
    code.or_else(|| status.signal().map(|signal| format!("signal {signal}")))
}
