//! Why a server cannot be called, as an operator is told.

use countersign_inspect::Era;
use countersign_wire::version::MODERN;
use thiserror::Error;

use crate::authorizer::NoAuthorization;

/// Why a server cannot be called.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The command could not be run at all.
    #[error("the command could not be run: {0}")]
    Spawn(String),
    /// It ended before it spoke, with this exit code.
    #[error("it ended with exit code {0} before it spoke MCP")]
    Exited(u8),
    /// It speaks a version of the protocol that is not known.
    #[error("it speaks protocol version {0:?}, which is not supported")]
    Version(String),
    /// It answered with this HTTP status.
    #[error("it answered with the HTTP status {0}")]
    Status(u16),
    /// There is no token for it.
    #[error("{0}")]
    Unauthorized(NoAuthorization),
    /// It did not answer in time.
    #[error("it did not answer in time")]
    Silent,
    /// What it answered is not the protocol, or an error.
    #[error("it answered with an error or with something that is not MCP")]
    NotMcp,
    /// It does not speak this era, which the configuration fixes for it.
    #[error("it does not speak the {0} era, which its \"era\" asks for")]
    OtherEra(Era),
    /// It speaks the modern era, and refused our request with this error of that era.
    #[error("it refused a request of protocol version {MODERN} with the error {0}")]
    ModernError(&'static str),
    /// It cannot be connected to, or goes away.
    #[error("it cannot be reached")]
    Unreachable,
    /// No connection to it comes about, for this reason.
    #[error("it cannot be reached: {0}")]
    NoConnection(String),
    /// Its address cannot be used.
    #[error("its address cannot be used: {0}")]
    Address(String),
    /// Its tools cannot be listed.
    #[error("its tools cannot be listed: {0}")]
    List(String),
}
