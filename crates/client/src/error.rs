//! Why a request has no answer, and what that means for the caller.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::Refusal;
use hyper::StatusCode;
use thiserror::Error as ThisError;

use crate::authorizer::NoAuthorization;
use crate::server_error::ServerError;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum Error {
    /// The server's fault: there is no connection to it, for this reason. Nothing was sent, so the request may be sent
    /// again.
    #[error("nothing was sent: {0}")]
    NotSent(Arc<str>),
    /// Our limit: there is no token for the server, for this reason. Nothing was sent.
    #[error("nothing was sent: {0}")]
    Unauthorized(NoAuthorization),
    /// The server's fault: it cannot be called at the moment.
    #[error("the server cannot be reached")]
    Unreachable,
    /// The server's fault: the connection broke, or the stream ended, before the answer.
    #[error("the connection was lost before the answer")]
    Lost,
    /// The server's fault: an HTTP status instead of an answer, with this body.
    #[error("the server answered with the HTTP status {0}")]
    Status(StatusCode, Bytes),
    /// The server's fault: what came is not the answer.
    #[error("the answer is malformed")]
    Malformed,
    /// The server's fault: the answer is larger than a message may be.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The most bytes a message may have.
        limit: u64,
    },
    /// The time was up.
    #[error("no answer within {after_ms} ms")]
    TimedOut {
        /// How long the answer was waited for.
        after_ms: u64,
    },
    /// Our limit: there is no memory for the answer.
    #[error("no memory for the answer")]
    Busy,
    /// Our limit: too many requests wait for the server.
    #[error("too many requests wait for the server")]
    QueueFull,
    /// The gateway stops, or the server is not to come back.
    #[error("the server is stopped")]
    ShuttingDown,
    /// The caller's fault: the parameters cannot be sent.
    #[error("the parameters cannot be sent")]
    BadArguments,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::NotSent(_) | Error::Unauthorized(_) | Error::Unreachable => Self::Unreachable,
            Error::Lost => Self::Lost,
            Error::Malformed => Self::Malformed,
            Error::TooLarge { limit } => Self::TooLarge { limit },
            Error::TimedOut { after_ms } => Self::TimedOut { after_ms },
            Error::Busy => Self::Busy,
            Error::QueueFull => Self::QueueFull,
            Error::ShuttingDown => Self::ShuttingDown,
            Error::BadArguments => Self::BadArguments,
            Error::Status(status, _) => match status.as_u16() {
                // A proxy before the server says 502 or 504 for a request that the server may have carried out.
                404 | 408 | 502 | 504 => Self::Lost,
                429 | 503 => Self::QueueFull,
                _ => Self::Malformed,
            },
        }
    }
}

impl From<Error> for ServerError {
    /// What it means for a greeting.
    fn from(error: Error) -> Self {
        match error {
            Error::NotSent(why) => Self::NoConnection((*why).to_owned()),
            Error::Unauthorized(why) => Self::Unauthorized(why),
            Error::Lost => Self::Unreachable,
            Error::Status(status, _) => Self::Status(status.as_u16()),
            _ => Self::NotMcp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_that_was_not_carried_out_may_be_made_again() {
        for (status, is_retryable) in [
            (404, false),
            (408, false),
            (429, true),
            (500, false),
            (502, false),
            (503, true),
            (504, false),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            let refusal = Refusal::from(Error::Status(status, Bytes::new()));
            assert_eq!(refusal.is_retryable(), is_retryable, "{status}");
        }
        for failure in [
            Error::Lost,
            Error::Malformed,
            Error::TooLarge { limit: 1 },
            Error::Busy,
        ] {
            assert!(
                !Refusal::from(failure.clone()).is_retryable(),
                "{failure:?}"
            );
        }
        assert!(Refusal::from(Error::NotSent("no route".into())).is_retryable());
    }
}
