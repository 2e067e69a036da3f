//! Why a request to a server over HTTP has no answer, and what that means for the caller.

use std::sync::Arc;

use bytes::Bytes;
use countersign_dial::ReadError;
use countersign_inspect::Refusal;
use hyper::StatusCode;

use crate::trouble::Trouble;

/// Why a request has no answer.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// There is no connection, for this reason; nothing was sent.
    NotSent(Arc<str>),
    /// The connection broke, or the stream ended, before the answer.
    Lost,
    /// Something else than an answer, with this status and this body.
    Status(StatusCode, Bytes),
    Malformed,
    TooLarge,
    Busy,
}

impl Failure {
    /// What the caller is told; `limit` is the size a message may have.
    pub(crate) fn refusal(&self, limit: usize) -> Refusal {
        match self {
            Self::NotSent(_) => Refusal::Unreachable,
            Self::Lost => Refusal::Lost,
            Self::Malformed => Refusal::Malformed,
            Self::Busy => Refusal::Busy,
            Self::TooLarge => Refusal::TooLarge {
                limit: limit as u64,
            },
            Self::Status(status, _) => match status.as_u16() {
                // A proxy before the server says 502 or 504 for a request that the server may have carried out.
                404 | 408 | 502 | 504 => Refusal::Lost,
                429 | 503 => Refusal::QueueFull,
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

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotSent(why) => Self::NoConnection((*why).to_owned()),
            Failure::Lost => Self::Unreachable,
            Failure::Status(status, _) => Self::Status(status.as_u16()),
            Failure::Malformed | Failure::TooLarge | Failure::Busy => Self::NotMcp,
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
            let refusal = Failure::Status(status, Bytes::new()).refusal(1);
            assert_eq!(refusal.is_retryable(), is_retryable, "{status}");
        }
        for failure in [
            Failure::Lost,
            Failure::Malformed,
            Failure::TooLarge,
            Failure::Busy,
        ] {
            assert!(!failure.refusal(1).is_retryable(), "{failure:?}");
        }
        assert!(
            Failure::NotSent("no route".into())
                .refusal(1)
                .is_retryable()
        );
    }
}
