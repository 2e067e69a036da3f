//! What is kept of one call until it is counted.

use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::client::{Exchange, Fault};
use crate::plan::Expect;

/// A call that ended.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Which of the plan's tools.
    pub(super) tool: usize,
    pub(super) expect: Expect,
    /// The whole answer, or why there is none.
    pub(super) answer: Result<Bytes, Fault>,
    /// The result in it, if it is one.
    pub(super) result: Option<Bytes>,
    /// Arguments that were not known beforehand, to be held to the schema too.
    pub(super) arguments: Option<Bytes>,
    pub(super) times: CallTimes,
}

/// The times of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallTimes {
    /// From the first start of the run to the intended start of the call.
    pub(super) intended: Duration,
    /// From the first start of the run to the end of the call.
    pub(super) ended: Duration,
    pub(super) response: Duration,
    pub(super) service: Duration,
    pub(super) first_event: Option<Duration>,
}

impl CallTimes {
    pub(super) fn from_exchange(exchange: &Exchange, origin: Instant, intended: Instant) -> Self {
        let since = |later: Instant, earlier| later.saturating_duration_since(earlier);
        Self {
            intended: since(intended, origin),
            ended: since(exchange.done, origin),
            response: since(exchange.done, intended),
            service: since(exchange.done, exchange.sent),
            first_event: exchange
                .first_event
                .map(|first| since(first, exchange.sent)),
        }
    }
}

impl Sample {
    /// How much memory it holds while it waits.
    pub(super) fn weight(&self) -> usize {
        let answer = self.answer.as_ref().map_or(0, Bytes::len);
        answer + self.arguments.as_ref().map_or(0, Bytes::len) + size_of::<Self>()
    }
}
