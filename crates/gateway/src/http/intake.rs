//! Reading a request's body: no larger than a message may be, in a bounded time, within the
//! gateway's memory.

use std::time::Duration;

use bytes::Bytes;
use countersign_dial::{Budget, ReadError, gather};
use hyper::body::Incoming;
use tokio::time::timeout;

/// How long a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooSlow,
    Unreadable(ReadError),
}

/// Reads the whole body.
pub(crate) async fn read_body(
    from: Incoming,
    limit: usize,
    budget: &Budget,
) -> Result<Bytes, BodyError> {
    match timeout(BODY_TIMEOUT, gather(from, limit, budget)).await {
        Ok(body) => body.map_err(BodyError::Unreadable),
        Err(_) => Err(BodyError::TooSlow),
    }
}
