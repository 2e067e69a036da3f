//! Reads a body into one buffer, limited in size and by a memory budget. A body that arrives in one piece
//! is not copied. The caller sets the time limit.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use thiserror::Error;

use crate::body_buffer::BodyBuffer;
use crate::budget::{Budget, MemoryReservation};

/// Why a body, or the next event of one, cannot be had.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ReadError {
    /// It is larger than a message may be.
    #[error("larger than a message may be")]
    TooLarge,
    /// The connection broke on the way.
    #[error("the connection broke")]
    Broken,
    /// No memory for it in time.
    #[error("no memory to spare in time")]
    Busy,
}

/// Reads the whole body, of no more than `limit` bytes.
pub async fn gather<B>(mut from: B, limit: usize, budget: &Budget) -> Result<Bytes, ReadError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let announced = from.size_hint().lower();
    if announced > limit as u64 {
        return Err(ReadError::TooLarge);
    }
    let announced = usize::try_from(announced).map_err(|_| ReadError::TooLarge)?;
    let mut held = MemoryReservation::default();
    let mut whole = Bytes::new();
    let mut parts: Option<BodyBuffer> = None;
    while let Some(frame) = from.frame().await {
        let Ok(data) = frame.map_err(|_| ReadError::Broken)?.into_data() else {
            continue;
        };
        let length = whole.len() + parts.as_ref().map_or(0, BodyBuffer::len) + data.len();
        if length > limit {
            return Err(ReadError::TooLarge);
        }
        budget
            .cover(&mut held, length)
            .await
            .map_err(|_| ReadError::Busy)?;
        if parts.is_none() && whole.is_empty() && length >= announced {
            whole = data;
            continue;
        }
        // Copied at once: the connection then reads the next part into the same memory.
        let parts = parts.get_or_insert_with(|| BodyBuffer::with_capacity(announced.max(length)));
        parts.extend(&std::mem::take(&mut whole));
        parts.extend(&data);
    }
    Ok(match parts {
        Some(parts) => parts.freeze(held),
        None => held.attach(whole),
    })
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_is_no_larger_than_its_limit_and_its_memory() {
        let large = Bytes::from(vec![b'x'; 2 * Budget::FREE]);
        let body = || Full::new(large.clone());
        let budget = Budget::new(3 * Budget::FREE);
        let (exact, short) = (large.len(), large.len() - 1);
        assert_eq!(
            gather(body(), short, &budget).await,
            Err(ReadError::TooLarge)
        );
        let held = gather(body(), exact, &budget).await;
        assert_eq!(held, Ok(large.clone()));
        assert_eq!(gather(body(), exact, &budget).await, Err(ReadError::Busy));
        drop(held);
        assert_eq!(gather(body(), exact, &budget).await, Ok(large.clone()));
    }
}
