//! The memory that messages may occupy at once, over the whole process. The reader of a large message
//! takes memory as bytes arrive and returns it when the last slice of the message is dropped.
//! Messages that fit into one read are not counted: concurrency limits bound those.
//!
//! A share can be reserved for one peer: memory that other peers hold never blocks that peer while its
//! messages fit into its share.

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
    common: Arc<Semaphore>,
    total: usize,
    share: Option<Arc<Share>>,
}

/// What is set aside for one peer.
#[derive(Debug)]
struct Share {
    units: Arc<Semaphore>,
    /// Taken out of the common memory for as long as the peer is there.
    _reserved: OwnedSemaphorePermit,
}

/// There was no memory to spare in time.
#[derive(Clone, Copy, Debug, Error)]
#[error("no memory to spare in time")]
pub struct NoMemory;

impl Budget {
    /// Messages up to this size are free.
    pub const FREE: usize = 64 * 1024;

    /// So many bytes, shared by all clones.
    pub fn new(bytes: usize) -> Self {
        let total = (bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self {
            common: Arc::new(Semaphore::new(total)),
            total,
            share: None,
        }
    }

    /// The same memory, with a part set aside for one of so many peers. Half of it, and room for a message of
    /// `largest` bytes, stays common; where that leaves nothing, nothing is set aside. The part becomes common again
    /// with the last clone.
    #[must_use]
    pub fn share(&self, peers: usize, largest: usize) -> Self {
        let kept = (self.total / 2).max(largest.div_ceil(UNIT).saturating_mul(2));
        let spare = self.common.available_permits().saturating_sub(kept);
        let part = (self.total / 2 / peers.max(1)).min(spare);
        let part = u32::try_from(part).unwrap_or(u32::MAX);
        let reserved = Arc::clone(&self.common).try_acquire_many_owned(part);
        let share = reserved.ok().map(|reserved| {
            Arc::new(Share {
                units: Arc::new(Semaphore::new(reserved.num_permits())),
                _reserved: reserved,
            })
        });
        Self {
            share,
            ..self.clone()
        }
    }

    /// Makes `held` cover a message of `bytes`, waiting a bounded time for what is missing.
    pub async fn cover(&self, held: &mut MemoryReservation, bytes: usize) -> Result<(), NoMemory> {
        if bytes <= Self::FREE {
            return Ok(());
        }
        let wanted = bytes.div_ceil(UNIT);
        let missing = wanted.saturating_sub(held.units());
        if missing == 0 {
            return Ok(());
        }
        if wanted > self.total {
            return Err(NoMemory);
        }
        let missing = u32::try_from(missing).map_err(|_| NoMemory)?;
        let missing = self.take_own(held, missing);
        let taken = tokio::time::timeout(PATIENCE, self.take(held, missing)).await;
        taken.unwrap_or(Err(NoMemory))
    }

    /// Takes what the share has at once; gives what is still missing.
    fn take_own(&self, held: &mut MemoryReservation, missing: u32) -> u32 {
        let Some(share) = &self.share else {
            return missing;
        };
        let free = u32::try_from(share.units.available_permits()).unwrap_or(u32::MAX);
        let part = missing.min(free);
        match Arc::clone(&share.units).try_acquire_many_owned(part) {
            Ok(permit) if part > 0 => {
                held.add_own(permit, share);
                missing - part
            }
            _ => missing,
        }
    }

    /// Takes the rest where it is free first.
    async fn take(&self, held: &mut MemoryReservation, missing: u32) -> Result<(), NoMemory> {
        if missing == 0 {
            return Ok(());
        }
        let common = Arc::clone(&self.common).acquire_many_owned(missing);
        let Some(share) = &self.share else {
            held.add(common.await.map_err(|_| NoMemory)?);
            return Ok(());
        };
        let own = Arc::clone(&share.units).acquire_many_owned(missing);
        tokio::select! {
            biased;
            permit = own => held.add_own(permit.map_err(|_| NoMemory)?, share),
            permit = common => held.add(permit.map_err(|_| NoMemory)?),
        }
        Ok(())
    }
}

/// What a message under way has taken of the budget; given back on drop.
#[derive(Debug, Default)]
pub struct MemoryReservation {
    common: Option<OwnedSemaphorePermit>,
    /// The permit stands first: it is given back before the share is.
    own: Option<(OwnedSemaphorePermit, Arc<Share>)>,
}

impl MemoryReservation {
    fn units(&self) -> usize {
        let own = self.own.as_ref().map(|(permit, _)| permit);
        let permits = self.common.iter().chain(own);
        permits.map(OwnedSemaphorePermit::num_permits).sum()
    }

    fn add(&mut self, more: OwnedSemaphorePermit) {
        match &mut self.common {
            Some(permit) => permit.merge(more),
            None => self.common = Some(more),
        }
    }

    fn add_own(&mut self, more: OwnedSemaphorePermit, share: &Arc<Share>) {
        match &mut self.own {
            // A message is gathered for one peer, so it is the same share.
            Some((permit, of)) if Arc::ptr_eq(of, share) => permit.merge(more),
            _ => self.own = Some((more, Arc::clone(share))),
        }
    }

    /// Ties the memory to the bytes: it is given back when the last slice of them is dropped.
    pub fn attach(self, bytes: Bytes) -> Bytes {
        if self.units() == 0 {
            return bytes;
        }
        Bytes::from_owner(ReservedBytes { bytes, _held: self })
    }
}

/// Bytes that hold their memory reservation until they are dropped.
struct ReservedBytes {
    bytes: Bytes,
    _held: MemoryReservation,
}

impl AsRef<[u8]> for ReservedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(budget: &Budget) -> usize {
        budget.common.available_permits()
    }

    #[tokio::test(start_paused = true)]
    async fn memory_comes_back_with_the_last_slice() {
        let budget = Budget::new(256 * 1024);
        let mut held = MemoryReservation::default();
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
        let (mut one, mut other) = (MemoryReservation::default(), MemoryReservation::default());
        budget
            .cover(&mut one, 200 * 1024)
            .await
            .expect("there is enough");
        assert!(budget.cover(&mut other, 100 * 1024).await.is_err());
        assert!(budget.cover(&mut other, 300 * 1024).await.is_err());
        drop(one);
        assert!(budget.cover(&mut other, 100 * 1024).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn one_peer_cannot_hold_the_memory_of_another() {
        let budget = Budget::new(1024 * 1024);
        let (greedy, honest) = (budget.share(2, 0), budget.share(2, 0));
        assert_eq!(free(&budget), 512);
        let mut all = MemoryReservation::default();
        greedy
            .cover(&mut all, 768 * 1024)
            .await
            .expect("its own share and what is common");
        let mut more = MemoryReservation::default();
        assert!(greedy.cover(&mut more, 100 * 1024).await.is_err());
        let mut message = MemoryReservation::default();
        honest
            .cover(&mut message, 200 * 1024)
            .await
            .expect("its share");
        // The next one waits for the share, not for the greedy peer.
        let mut next = MemoryReservation::default();
        let waiting = honest.cover(&mut next, 200 * 1024);
        let (waited, ()) = tokio::join!(waiting, async { drop(message) });
        waited.expect("what came back");
        drop((all, next, greedy));
        assert_eq!(free(&budget), 768, "the share of one that left is common");
    }

    #[tokio::test(start_paused = true)]
    async fn the_largest_message_always_fits() {
        let budget = Budget::new(1024 * 1024);
        let shares: Vec<_> = (0..20).map(|_| budget.share(3, 400 * 1024)).collect();
        assert_eq!(free(&budget), 800);
        for share in &shares {
            let mut held = MemoryReservation::default();
            share.cover(&mut held, 800 * 1024).await.expect("it fits");
        }
        let tight = Budget::new(1024 * 1024).share(1, 1024 * 1024);
        let mut held = MemoryReservation::default();
        tight.cover(&mut held, 1024 * 1024).await.expect("it fits");
    }
}
