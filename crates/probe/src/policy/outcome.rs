//! How one call ended. A violated contract is an outcome of its own kind, apart from a broken
//! transport, so that no report can mix the two.

use serde::{Deserialize, Serialize};

use super::Site;

/// How one call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// A result, and nothing against it that gates.
    Success,
    /// An `isError` result: the tool's own answer, never a violation.
    ToolError,
    /// Arguments that were meant to be refused were refused.
    ExpectedRejection,
    /// A gateway in between refused it.
    Denied,
    /// The answer is not one the protocol or the contract allows. Gates the run.
    ProtocolError(ProtocolError),
    /// No answer in time.
    Timeout,
    /// The connection failed or the process ended.
    Transport,
    /// The tester made a case that is not what its label says. Never blamed on the server.
    TesterBug,
    /// A gateway turned a valid result into an invalid one.
    GatewayChanged,
}

/// What about an answer broke the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
