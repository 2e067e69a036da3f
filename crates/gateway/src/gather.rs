//! A body as one piece of memory: no larger than a message may be, within the gateway's memory. A
//! body that arrives in one piece is not copied. How long it may take is the caller's to say.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;

use crate::budget::{Budget, Held};

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ungathered {
    TooLarge,
    Broken,
    /// No memory for it in time.
    Busy,
}

/// Reads the whole body.
pub(crate) async fn gather<B>(
    mut from: B,
    limit: usize,
    budget: &Budget,
) -> Result<Bytes, Ungathered>
where
    B: Body<Data = Bytes> + Unpin,
{
    let announced = from.size_hint().lower();
    if announced > limit as u64 {
        return Err(Ungathered::TooLarge);
    }
    let announced = usize::try_from(announced).map_err(|_| Ungathered::TooLarge)?;
    let mut held = Held::default();
    let mut whole = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = from.frame().await {
        let Ok(data) = frame.map_err(|_| Ungathered::Broken)?.into_data() else {
            continue;
        };
        let length = whole.len() + rest.len() + data.len();
        if length > limit {
            return Err(Ungathered::TooLarge);
        }
        budget
            .cover(&mut held, length)
            .await
            .map_err(|_| Ungathered::Busy)?;
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
