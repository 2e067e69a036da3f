//! How one call ended. A violated contract is an outcome of its own kind, apart from a broken
//! transport, so that no report can mix the two.

use super::Site;

/// How one call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallOutcome {
    /// A result, and nothing against it that gates.
    Success,
    /// An `isError` result: the tool's own answer, never a violation.
    ToolError,
    /// A gateway in between refused it.
    Denied,
    /// The answer is not one the protocol or the contract allows. Gates the run.
    ProtocolError(ProtocolError),
    /// No answer in time.
    Timeout,
    /// The connection failed or the process ended.
    Transport,
}

/// What about an answer broke the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolError {
    /// A violation of the declared contract that the policy calls a failure.
    SchemaViolation {
        /// Where in the contract.
        site: Site,
    },
    /// A JSON-RPC error.
    Rpc {
        /// Its code.
        code: i64,
    },
    /// Bytes that are no answer to the request.
    Malformed,
}

impl CallOutcome {
    /// The outcome of a call with a violation that the policy calls a failure.
    pub const fn violation(site: Site) -> Self {
        Self::ProtocolError(ProtocolError::SchemaViolation { site })
    }
}
