//! Counts what a tape would have and what judging it would cost, with one addition for each value.

use super::FRAME;
use crate::fuel::for_name;
use crate::program::{NONE, Target};

/// What a tape would have and a judgement of it would cost: nodes in the lower half, fuel in the upper half. Neither is more
/// than the text has bytes, and a text has fewer than 2^32.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally(u64);

impl Tally {
    /// The root and its frame.
    pub(super) const ROOT: Self = Self::new(1, FRAME);
    /// A member with a name that is spelt in 16 bytes.
    pub(super) const SHORT_MEMBER: Self = Self::member(15);

    const fn new(nodes: u64, fuel: u64) -> Self {
        Self(fuel << 32 | nodes)
    }

    /// Name and value of a member. `quoted` is the length of the name with its quotes.
    pub(super) const fn member(quoted: usize) -> Self {
        Self::new(2, for_name(quoted as u64) + 1)
    }

    /// An item. Items of which nothing is asked are not visited.
    #[inline]
    pub(super) fn item(target: &Target) -> Self {
        Self::new(1, u64::from(target.child != NONE))
    }

    pub(super) fn nodes_only(nodes: u32) -> Self {
        Self::new(u64::from(nodes), 0)
    }

    #[inline]
    pub(super) fn add(&mut self, other: Self) {
        self.0 += other.0;
    }

    pub(super) const fn nodes(self) -> u64 {
        self.0 & u32::MAX as u64
    }

    pub(super) const fn fuel(self) -> u64 {
        self.0 >> 32
    }
}
