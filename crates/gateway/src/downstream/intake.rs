//! Reading a request's body: no larger than a message may be, in a bounded time, within the
//! gateway's memory. A body in one piece is not copied.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use crate::budget::{Budget, Held};

/// How long a client may take to send a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    TooLarge,
    TooSlow,
    Broken,
    Busy,
}

/// Reads the whole body.
pub(super) async fn body(from: Incoming, limit: usize, budget: &Budget) -> Result<Bytes, Refused> {
    let announced = from.size_hint().lower();
    if announced > limit as u64 {
        return Err(Refused::TooLarge);
    }
    match timeout(PATIENCE, gather(from, limit, budget)).await {
        Ok(body) => body,
        Err(_) => Err(Refused::TooSlow),
    }
}

async fn gather(mut from: Incoming, limit: usize, budget: &Budget) -> Result<Bytes, Refused> {
    let announced = usize::try_from(from.size_hint().lower()).map_err(|_| Refused::TooLarge)?;
    let mut held = Held::default();
    let mut whole = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = from.frame().await {
        let Ok(data) = frame.map_err(|_| Refused::Broken)?.into_data() else {
            continue;
        };
        let length = whole.len() + rest.len() + data.len();
        if length > limit {
            return Err(Refused::TooLarge);
        }
        budget
            .cover(&mut held, length)
            .await
            .map_err(|_| Refused::Busy)?;
        if whole.is_empty() && rest.is_empty() {
            whole = data;
            continue;
        }
        if rest.is_empty() {
            rest.reserve(announced.max(length));
            rest.extend_from_slice(&std::mem::take(&mut whole));
        }
        rest.extend_from_slice(&data);
    }
    let body = if rest.is_empty() {
        whole
    } else {
        rest.freeze()
    };
    Ok(held.attach(body))
}
