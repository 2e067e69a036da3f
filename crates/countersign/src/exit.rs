//! The exit codes: a published contract, so scripts may branch on them. New meanings get new numbers.

use std::process::ExitCode;

/// How an invocation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, and the answer is yes.
    Ok,
    /// The answer is no: blocked, invalid, gate failed.
    No,
    /// Wrong usage or configuration, or input that cannot be read.
    Usage,
    /// The target cannot be reached.
    Unreachable,
    /// The offered load was not made, so there is no result.
    Saturated,
    /// Refused by policy: a tool that may not be called, a baseline that may not be written.
    Refused,
    /// A baseline knows what is no longer so.
    Stale,
    /// Fuel was used up before there was a verdict.
    Exhausted,
    /// The schema cannot be enforced.
    Unenforceable,
    /// A bug in countersign.
    Internal,
    /// What the wrapped server ended with.
    Server(u8),
}

impl Exit {
    /// The answer to a question that the command was asked.
    pub(crate) fn answer(is_yes: bool) -> Self {
        if is_yes { Self::Ok } else { Self::No }
    }

    /// The number the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::Saturated => 4,
            Self::Refused => 5,
            Self::Stale => 6,
            Self::Exhausted => 7,
            Self::Unenforceable => 8,
            Self::Internal => 70,
            Self::Server(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
