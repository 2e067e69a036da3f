//! Why a request to a server over HTTP has no answer, and what that means for whoever called.

use std::time::Duration;

use bytes::Bytes;
use countersign_dial::ReadError;
use countersign_inspect::Refusal;
use hyper::StatusCode;

/// How long a stream may be silent while an answer is due.
pub(super) const IDLE: Duration = Duration::from_mins(1);

/// Why a request has no answer.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// There is no connection; nothing was sent.
    NotSent,
    /// The connection broke, or the stream ended, before the answer.
    Lost,
    /// Something else than an answer, with this status and this body.
    Status(StatusCode, Bytes),
    Malformed,
    TooLarge,
    Busy,
    Silent,
}

impl Failure {
    /// What whoever called is told; `limit` is the size a message may have.
    pub(super) fn refusal(&self, limit: usize) -> Refusal {
        match self {
            Self::NotSent => Refusal::Unreachable,
            Self::Lost => Refusal::Lost,
            Self::Malformed => Refusal::Malformed,
            Self::Busy => Refusal::Busy,
            Self::TooLarge => Refusal::TooLarge {
                limit: limit as u64,
            },
            Self::Silent => Refusal::TimedOut {
                after_ms: u64::try_from(IDLE.as_millis()).unwrap_or(u64::MAX),
            },
            Self::Status(status, _) => match status.as_u16() {
                404 | 408 => Refusal::Lost,
                429 | 503 => Refusal::QueueFull,
                502 | 504 => Refusal::Unreachable,
                _ => Refusal::Malformed,
            },
        }
    }
}

impl From<ReadError> for Failure {
    fn from(why: ReadError) -> Self {
        match why {
            ReadError::TooLarge => Self::TooLarge,
            ReadError::Broken => Self::Lost,
            ReadError::Busy => Self::Busy,
        }
    }
}
