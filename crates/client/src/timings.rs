//! When the bytes of a request left and those of its answer came.

use std::time::Instant;

/// The moments of one request. They are kept if its time is up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timings {
    /// When the request was handed to the socket or pipe.
    pub(crate) sent: Option<Instant>,
    /// When the first event came, if the answer comes as a stream of events.
    pub(crate) first_event: Option<Instant>,
    /// When the whole answer had come.
    pub(crate) done: Option<Instant>,
}
