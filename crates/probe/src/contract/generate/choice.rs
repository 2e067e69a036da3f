//! How to choose where a schema leaves a choice: the least, the most, or anything from a seed.

use crate::random::Random;

/// How to choose where a schema leaves a choice.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    /// As little as possible, with the n-th way through alternatives.
    Minimal(usize),
    /// As much as is reasonable, likewise.
    Maximal(usize),
    /// Anything, from this seed.
    Random(u64),
}

impl Choice {
    pub(super) fn branch(self, branches: usize, turn: usize) -> usize {
        match self {
            Self::Minimal(nth) | Self::Maximal(nth) => nth.checked_rem(branches).unwrap_or(0),
            Self::Random(seed) => Random::new(seed ^ turn as u64).index(branches),
        }
    }

    /// The same kind of choice for a value inside.
    pub(super) fn nested(self, salt: usize) -> Self {
        match self {
            Self::Random(seed) => {
                let salt = (salt as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9);
                Self::Random(Random::new(seed ^ salt).number())
            }
            other => other,
        }
    }
}
