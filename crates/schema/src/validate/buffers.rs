//! The buffers of a validation run, reused by the next run on the same thread.

use std::cell::Cell;

use super::frame::Frame;
use super::memo::Memo;
use super::plain::Level;
use super::scope::Scopes;
use crate::canonical::Canonicaliser;

/// Reusable memory of the machine.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(super) frames: Vec<Frame>,
    pub(super) levels: Vec<Level>,
    /// Names seen and values evaluated, one region per frame, stacked like the frames.
    pub(super) bits: Vec<u64>,
    pub(super) memo: Memo,
    pub(super) scopes: Scopes,
    pub(super) canonicaliser: Canonicaliser,
    /// Canonical forms of the values at hand.
    pub(super) forms: Vec<u8>,
    /// Where each form in `forms` starts and ends.
    pub(super) spans: Vec<(u32, u32)>,
    pub(super) text: String,
}

/// Buffers above this size are not kept.
const KEEP: usize = 1024 * 1024;

thread_local! {
    static KEPT: Cell<Option<Box<Buffers>>> = const { Cell::new(None) };
}

impl Buffers {
    /// Lends this thread's buffers.
    pub(crate) fn with_thread_buffers<T>(work: impl FnOnce(&mut Buffers) -> T) -> T {
        let mut buffers = KEPT.take().unwrap_or_default();
        let result = work(&mut buffers);
        buffers.shrink();
        KEPT.set(Some(buffers));
        result
    }

    pub(super) fn reset(&mut self) {
        self.frames.clear();
        self.levels.clear();
        self.bits.clear();
        self.scopes.clear();
        self.memo.forget();
    }

    fn shrink(&mut self) {
        release(&mut self.frames);
        release(&mut self.levels);
        release(&mut self.bits);
        release(&mut self.forms);
        release(&mut self.spans);
        if self.text.capacity() > KEEP {
            self.text = String::new();
        }
        self.canonicaliser.buffers().into_iter().for_each(release);
    }
}

/// Gives back the memory of a buffer that grew too large to be kept.
fn release<T>(buffer: &mut Vec<T>) {
    if buffer.capacity() * size_of::<T>() > KEEP {
        *buffer = Vec::new();
    }
}
