//! One request and what became of it: an answer kept as it was written, or a fault of the way
//! there, and the moments that matter. What an answer means is for others to say.

use std::time::Instant;

use bytes::Bytes;
use countersign_dial::ReadError;
use thiserror::Error;

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
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    Starved,
    /// An HTTP status instead of an answer.
    #[error("HTTP status {0}")]
    Status(u16),
}

impl From<ReadError> for Fault {
    fn from(why: ReadError) -> Self {
        match why {
            ReadError::TooLarge => Self::TooLarge,
            ReadError::Broken => Self::Closed,
            ReadError::Busy => Self::Starved,
        }
    }
}

/// The moments of a request under way. They outlive it if its time is up.
#[derive(Debug)]
pub(super) struct Stamps {
    pub(super) sent: Instant,
    pub(super) first_event: Option<Instant>,
    pub(super) done: Option<Instant>,
    pub(super) message: Option<Bytes>,
}

impl Stamps {
    pub(super) fn start() -> Self {
        Self {
            sent: Instant::now(),
            first_event: None,
            done: None,
            message: None,
        }
    }

    pub(super) fn exchange(self, reply: Result<Reply, Fault>) -> Exchange {
        Exchange {
            reply,
            sent: self.sent,
            first_event: self.first_event,
            done: self.done.unwrap_or_else(Instant::now),
            message: self.message,
        }
    }
}
