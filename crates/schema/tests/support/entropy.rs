//! Where generators take their choices from: a seed, or the bytes of a fuzzer.

/// A stream of choices.
#[derive(Debug, Clone)]
pub(crate) enum Entropy<'a> {
    Seed(u64),
    Bytes(&'a [u8]),
}

impl Entropy<'_> {
    /// The next choice; zeros without end when the bytes are used up, so that generation ends.
    pub(crate) fn next(&mut self) -> u64 {
        match self {
            Self::Seed(state) => {
                // SplitMix64: any seed is as good as another.
                *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                mixed ^ (mixed >> 31)
            }
            Self::Bytes(bytes) => match bytes.split_first_chunk::<2>() {
                Some((head, rest)) => {
                    *bytes = rest;
                    u64::from(u16::from_le_bytes(*head))
                }
                None => 0,
            },
        }
    }

    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    /// True so often in a hundred.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of some.
    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}
