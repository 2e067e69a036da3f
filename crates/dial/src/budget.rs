//! The memory that messages may occupy at once, over the whole process. Whoever gathers a large
//! message takes its share as the bytes arrive and gives it back when the last slice of the
//! message is gone. Messages that fit into one read are not counted: concurrency bounds those.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a half-gathered message may wait for memory. Two of them could otherwise wait for
/// each other for ever, each holding what the other needs.
const PATIENCE: Duration = Duration::from_secs(5);
const UNIT: usize = 1024;

/// The memory for messages; clones share it.
#[derive(Clone, Debug)]
pub struct Budget {
    units: Arc<Semaphore>,
    total: usize,
}

/// There was no memory to spare in time.
#[derive(Clone, Copy, Debug, Error)]
#[error("no memory to spare in time")]
pub struct Starved;

impl Budget {
    /// Messages up to this size are free.
    pub const FREE: usize = 64 * 1024;

    /// So many bytes, for everybody who has a clone.
    pub fn new(bytes: usize) -> Self {
        let total = (bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self {
            units: Arc::new(Semaphore::new(total)),
            total,
        }
    }

    /// Makes `held` cover a message of `bytes`, waiting a bounded time for what is missing.
    pub async fn cover(&self, held: &mut Held, bytes: usize) -> Result<(), Starved> {
        if bytes <= Self::FREE {
            return Ok(());
        }
        let wanted = bytes.div_ceil(UNIT);
        let missing = wanted.saturating_sub(held.units());
        if missing == 0 {
            return Ok(());
        }
        if wanted > self.total {
            return Err(Starved);
        }
        let missing = u32::try_from(missing).map_err(|_| Starved)?;
        let acquired = Arc::clone(&self.units).acquire_many_owned(missing);
        match tokio::time::timeout(PATIENCE, acquired).await {
            Ok(Ok(permit)) => {
                held.add(permit);
                Ok(())
            }
            _ => Err(Starved),
        }
    }
}

/// What a message under way has taken of the budget; given back on drop.
#[derive(Debug, Default)]
pub struct Held {
    permit: Option<OwnedSemaphorePermit>,
}

impl Held {
    fn units(&self) -> usize {
        self.permit
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits)
    }

    fn add(&mut self, more: OwnedSemaphorePermit) {
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
    }

    /// Ties the share to the bytes: it is given back when the last slice of them is dropped.
    pub fn attach(self, bytes: Bytes) -> Bytes {
        match self.permit {
            None => bytes,
            Some(permit) => Bytes::from_owner(Owned {
                bytes,
                _permit: permit,
            }),
        }
    }
}

struct Owned {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(budget: &Budget) -> usize {
        budget.units.available_permits()
    }

    #[tokio::test(start_paused = true)]
    async fn memory_comes_back_with_the_last_slice() {
        let budget = Budget::new(256 * 1024);
        let mut held = Held::default();
        budget
            .cover(&mut held, Budget::FREE)
            .await
            .expect("free of charge");
        assert_eq!(free(&budget), 256);
        budget
            .cover(&mut held, 100 * 1024)
            .await
            .expect("there is enough");
        budget
            .cover(&mut held, 200 * 1024)
            .await
            .expect("there is enough");
        assert_eq!(free(&budget), 56);
        let message = held.attach(Bytes::from_static(b"a large message"));
        let part = message.slice(2..7);
        drop(message);
        assert_eq!(&part[..], b"large");
        assert_eq!(free(&budget), 56);
        drop(part);
        assert_eq!(free(&budget), 256);
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_gets_no_memory_gives_up() {
        let budget = Budget::new(256 * 1024);
        let (mut one, mut other) = (Held::default(), Held::default());
        budget
            .cover(&mut one, 200 * 1024)
            .await
            .expect("there is enough");
        assert!(budget.cover(&mut other, 100 * 1024).await.is_err());
        assert!(budget.cover(&mut other, 300 * 1024).await.is_err());
        drop(one);
        assert!(budget.cover(&mut other, 100 * 1024).await.is_ok());
    }
}
