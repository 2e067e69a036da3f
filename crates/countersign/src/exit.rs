//! The exit codes: a published contract, so scripts may branch on them. New meanings get new numbers.

use std::process::ExitCode;

/// How an invocation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, and the answer is yes.
    Ok = 0,
    /// The answer is no: blocked, invalid, gate failed.
    No = 1,
    /// Wrong usage or configuration, or input that cannot be read.
    Usage = 2,
    /// The target cannot be reached.
    Unreachable = 3,
    /// Fuel was used up before there was a verdict.
    Exhausted = 7,
    /// The schema cannot be enforced.
    Unenforceable = 8,
    /// A bug in countersign.
    Internal = 70,
}

impl Exit {
    /// The number the process ends with.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
