//! One request and what became of it: an answer kept as it was written, or the reason why there is none, and when each
//! part was sent and received.

use std::io;
use std::time::Instant;

use bytes::Bytes;
use countersign_tape::{Envelope, Member, ScanLimits, scan};
use thiserror::Error as ThisError;

use crate::error::Error;
use crate::server_error::ServerError;

/// A request and what came of it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The answer, or why there is none.
    pub reply: Result<Reply, Fault>,
    /// When the request was handed to the socket or pipe; when it was asked for, if it never was.
    pub sent: Instant,
    /// When the first event came, if the answer came as a stream of events.
    pub first_event: Option<Instant>,
    /// When the last byte of the answer had come, or the fault was known.
    pub done: Instant,
    /// The whole answer as it was written, envelope included, if there was one.
    pub message: Option<Bytes>,
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The `result` value, byte for byte.
    Result(Bytes),
    /// A JSON-RPC error.
    Error(ErrorReply),
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReply {
    /// The code, if it is an integer.
    pub code: Option<i64>,
    /// The `error` value, byte for byte.
    pub raw: Bytes,
}

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, ThisError, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// Nothing could be sent: no connection, or no process any more.
    #[error("no connection")]
    Unreachable,
    /// The time was up.
    #[error("no answer in time")]
    TimedOut,
    /// The connection broke, or the process ended, before the answer.
    #[error("the connection was closed before the answer")]
    Closed,
    /// What came is not the JSON-RPC answer to the request.
    #[error("the answer is malformed")]
    Malformed,
    /// The answer is larger than a message may be.
    #[error("the answer is too large")]
    TooLarge,
    /// There was no memory to hold the answer; the tester's fault, not the server's.
    #[error("no memory to hold the answer")]
    NoMemory,
    /// An HTTP status instead of an answer.
    #[error("HTTP status {0}")]
    Status(u16),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Lost => Self::Closed,
            Error::Malformed => Self::Malformed,
            Error::TooLarge { .. } => Self::TooLarge,
            Error::TimedOut { .. } => Self::TimedOut,
            Error::Busy => Self::NoMemory,
            Error::Status(status, _) => Self::Status(status.as_u16()),
            _ => Self::Unreachable,
        }
    }
}

/// Why there is no client.
#[derive(Debug, ThisError)]
pub enum ConnectError {
    /// The program cannot be started.
    #[error("the program cannot be started")]
    Start(#[source] io::Error),
    /// The greeting was not answered.
    #[error("the server could not be greeted")]
    Greeting(#[source] Fault),
    /// The greeting was refused, or answered with something that is not MCP.
    #[error("the server answered the greeting with an error or with something that is not MCP")]
    Refused,
    /// The server speaks a version that we do not.
    #[error("the server speaks protocol version {0:?}, which is not supported")]
    Version(String),
}

impl From<ServerError> for ConnectError {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Unreachable => Self::Greeting(Fault::Closed),
            ServerError::NoConnection(_) => Self::Greeting(Fault::Unreachable),
            ServerError::Status(status) => Self::Greeting(Fault::Status(status)),
            ServerError::Version(version) => Self::Version(version),
            _ => Self::Refused,
        }
    }
}

impl Reply {
    /// Reads the answer to the request with this id. A message that is wrong in any way is no answer.
    pub(crate) fn read(message: &Bytes, id: u64) -> Result<Self, Fault> {
        let envelope = scan(message, &ScanLimits::default()).map_err(|_| Fault::Malformed)?;
        let found = envelope.id().map(|id| id.bytes(message));
        if found != Some(id.to_string().as_bytes()) {
            return Err(Fault::Malformed);
        }
        reply(message, &envelope)
    }
}

/// The answer in a message whose id is right.
fn reply(message: &Bytes, envelope: &Envelope) -> Result<Reply, Fault> {
    let interpreted = [Member::JsonRpc, Member::Id, Member::Result, Member::Error];
    if envelope
        .duplicates()
        .any(|member| interpreted.contains(&member))
    {
        return Err(Fault::Malformed);
    }
    let version = envelope.get(Member::JsonRpc);
    if version.is_none_or(|version| version.bytes(message) != b"\"2.0\"") {
        return Err(Fault::Malformed);
    }
    match (envelope.result(), envelope.error()) {
        (Some(result), None) => Ok(Reply::Result(message.slice_ref(result.bytes(message)))),
        (None, Some(error)) => {
            let code = envelope.get(Member::ErrorCode);
            let code = code.and_then(|code| std::str::from_utf8(code.bytes(message)).ok());
            Ok(Reply::Error(ErrorReply {
                code: code.and_then(|code| code.parse().ok()),
                raw: message.slice_ref(error.bytes(message)),
            }))
        }
        _ => Err(Fault::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Result<Reply, Fault> {
        Reply::read(&Bytes::copy_from_slice(message.as_bytes()), 7)
    }

    #[test]
    fn answers_keep_their_bytes() {
        let result = Bytes::from_static(br#"{ "n" : 1.0 }"#);
        for message in [
            r#"{"jsonrpc":"2.0","id":7,"result":{ "n" : 1.0 }}"#,
            r#"{"result":{ "n" : 1.0 },"id":7,"jsonrpc":"2.0"}"#,
        ] {
            let expected = Ok(Reply::Result(result.clone()));
            assert_eq!(read(message), expected, "{message}");
        }
        let error = ErrorReply {
            code: Some(-32602),
            raw: Bytes::from_static(br#"{"code":-32602,"message":"no"}"#),
        };
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}"#),
            Ok(Reply::Error(error))
        );
    }

    #[test]
    fn a_wrong_answer_is_malformed() {
        for message in [
            r#"{"jsonrpc":"2.0","id":7}"#,
            r#"{"jsonrpc":"2.0","id":"7","result":{}}"#,
            r#"{"jsonrpc":"1.0","id":7,"result":{}}"#,
            r#"{"id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"#,
            r#"{"jsonrpc":"2.0","id":8,"result":{}}"#,
            r#"{"jsonrpc":"2.0","result":nope,"id":7}"#,
        ] {
            let expected = Err(Fault::Malformed);
            assert_eq!(read(message), expected, "{message}");
        }
    }
}
