//! Reading a request's body: no larger than a message may be, in a bounded time, within the
//! gateway's memory.

use std::time::Duration;

use bytes::Bytes;
use countersign_dial::{Budget, ReadError, gather};
use hyper::body::Incoming;
use tokio::time::timeout;

/// How long a client may take to send a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    TooLarge,
    TooSlow,
    Broken,
    Busy,
}

/// Reads the whole body.
pub(crate) async fn body(from: Incoming, limit: usize, budget: &Budget) -> Result<Bytes, Refused> {
    match timeout(PATIENCE, gather(from, limit, budget)).await {
        Ok(body) => body.map_err(|why| match why {
            ReadError::TooLarge => Refused::TooLarge,
            ReadError::Broken => Refused::Broken,
            ReadError::Busy => Refused::Busy,
        }),
        Err(_) => Err(Refused::TooSlow),
    }
}
