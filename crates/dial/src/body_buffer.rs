//! Memory for large bodies, used again for the next body. New memory of that size would come from the kernel page by page,
//! and go back to it when the body is dropped, which takes longer than to read the body.

use std::sync::Mutex;

use bytes::Bytes;

use crate::budget::MemoryReservation;
use crate::lock::lock;

/// Buffers below this size are left to the allocator, which keeps them itself.
const LEAST_KEPT: usize = 32 * 1024;
/// Buffers above this size are given back.
const MOST_KEPT: usize = 1 << 20;
/// How much memory is kept for bodies to come.
const KEPT_BYTES: usize = 4 << 20;

/// The buffers that no body uses.
static IDLE: Mutex<IdleBuffers> = Mutex::new(IdleBuffers {
    buffers: Vec::new(),
    bytes: 0,
});

#[derive(Debug)]
struct IdleBuffers {
    buffers: Vec<Vec<u8>>,
    /// The capacity of all of them.
    bytes: usize,
}

impl IdleBuffers {
    /// The buffer that was used last of those that are large enough.
    fn take(&mut self, capacity: usize) -> Option<Vec<u8>> {
        let is_enough = |buffer: &Vec<u8>| buffer.capacity() >= capacity;
        let found = self.buffers.iter().rposition(is_enough)?;
        let buffer = self.buffers.remove(found);
        self.bytes -= buffer.capacity();
        Some(buffer)
    }

    /// Keeps a buffer if there is room for it; else gives it back, to be dropped.
    fn keep(&mut self, mut buffer: Vec<u8>) -> Option<Vec<u8>> {
        let capacity = buffer.capacity();
        if !(LEAST_KEPT..=MOST_KEPT).contains(&capacity) || self.bytes + capacity > KEPT_BYTES {
            return Some(buffer);
        }
        buffer.clear();
        self.bytes += capacity;
        self.buffers.push(buffer);
        None
    }
}

/// A body as it is read.
#[derive(Debug)]
pub(crate) struct BodyBuffer {
    bytes: Vec<u8>,
}

impl BodyBuffer {
    /// Room for as many bytes. It grows if there are more.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let used = (LEAST_KEPT..=MOST_KEPT)
            .contains(&capacity)
            .then(|| lock(&IDLE).take(capacity))
            .flatten();
        Self {
            bytes: used.unwrap_or_else(|| Vec::with_capacity(capacity)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn extend(&mut self, part: &[u8]) {
        self.bytes.extend_from_slice(part);
    }

    /// The bytes as they are now. They hold the reservation, and their memory is used again, when the last slice of them is
    /// dropped.
    pub(crate) fn freeze(self, held: MemoryReservation) -> Bytes {
        Bytes::from_owner(ReadBody {
            buffer: self,
            _held: held,
        })
    }
}

impl Drop for BodyBuffer {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.bytes);
        // Outside of the lock: giving memory back takes time.
        let left = lock(&IDLE).keep(buffer);
        drop(left);
    }
}

/// A body that was read, and what it has taken of the budget.
struct ReadBody {
    buffer: BodyBuffer,
    _held: MemoryReservation,
}

impl AsRef<[u8]> for ReadBody {
    fn as_ref(&self) -> &[u8] {
        &self.buffer.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_body_is_used_for_the_next_one() {
        let mut idle = IdleBuffers {
            buffers: Vec::new(),
            bytes: 0,
        };
        let large = Vec::with_capacity(2 * LEAST_KEPT);
        let address = large.as_ptr();
        assert_eq!(idle.keep(large), None);
        assert_eq!(idle.take(3 * LEAST_KEPT), None);
        let again = idle.take(LEAST_KEPT).expect("large enough");
        assert_eq!((again.as_ptr(), idle.bytes), (address, 0));
    }

    #[test]
    fn no_more_memory_is_kept_than_may_be() {
        let mut idle = IdleBuffers {
            buffers: Vec::new(),
            bytes: 0,
        };
        for size in [0, LEAST_KEPT - 1, MOST_KEPT + 1] {
            assert!(idle.keep(Vec::with_capacity(size)).is_some(), "{size}");
        }
        let kept = (0..100).filter(|_| idle.keep(Vec::with_capacity(MOST_KEPT)).is_none());
        assert_eq!(kept.count(), KEPT_BYTES / MOST_KEPT);
        assert_eq!(idle.bytes, KEPT_BYTES);
    }

    #[test]
    fn a_body_is_what_was_read() {
        let mut body = BodyBuffer::with_capacity(LEAST_KEPT);
        body.extend(b"one ");
        body.extend(b"two");
        let bytes = body.freeze(MemoryReservation::default());
        let slice = bytes.slice(4..);
        drop(bytes);
        let mut next = BodyBuffer::with_capacity(LEAST_KEPT);
        next.extend(b"three");
        assert_eq!((&slice[..], next.len()), (&b"two"[..], 5));
    }
}
