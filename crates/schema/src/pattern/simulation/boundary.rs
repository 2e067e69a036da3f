//! What may happen between two characters.
//!
//! Knows nothing of characters: the caller decides which positions accept the next one. Serves the simulation.

/// Where in the text a boundary between characters lies, as far as assertions can tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundaryContext {
    pub(super) start: bool,
    pub(super) end: bool,
    /// A word character on exactly one side.
    pub(super) edge: bool,
}

impl BoundaryContext {
    pub(super) const COUNT: usize = 8;

    pub(super) fn index(self) -> usize {
        usize::from(self.start) | usize::from(self.end) << 1 | usize::from(self.edge) << 2
    }

    pub(super) fn all() -> impl Iterator<Item = BoundaryContext> {
        (0..Self::COUNT).map(|index| BoundaryContext {
            start: index & 1 != 0,
            end: index & 2 != 0,
            edge: index & 4 != 0,
        })
    }
}

/// The moves open between two characters.
#[derive(Debug)]
pub(super) struct Boundary {
    /// The pattern matches the empty text here.
    pub(super) empty: bool,
    /// Positions a match may begin with.
    pub(super) first: Box<[u64]>,
    /// Positions a match may have ended with.
    pub(super) last: Box<[u64]>,
    /// Positions that may be followed by the next one.
    pub(super) steps: Box<[u64]>,
    /// Every other move.
    pub(super) jumps: Box<[Jump]>,
}

/// From any of these positions to all of those. Words without a bit are left out.
#[derive(Debug)]
pub(super) struct Jump {
    pub(super) from: Box<[(usize, u64)]>,
    pub(super) to: Box<[(usize, u64)]>,
}

impl Boundary {
    pub(super) fn is_match(&self, state: &[u64]) -> bool {
        self.empty || state.iter().zip(&self.last).any(|(a, b)| a & b != 0)
    }

    /// The positions that may come next, whatever the character.
    #[inline]
    pub(super) fn advance(&self, state: &[u64], next: &mut [u64]) {
        let mut carry = 0;
        let masks = self.first.iter().zip(&self.steps);
        for ((next, state), (first, steps)) in next.iter_mut().zip(state).zip(masks) {
            let moving = state & steps;
            *next = first | moving << 1 | carry;
            carry = moving >> 63;
        }
        for jump in &self.jumps {
            if jump
                .from
                .iter()
                .any(|&(word, bits)| state[word] & bits != 0)
            {
                for &(word, bits) in &jump.to {
                    next[word] |= bits;
                }
            }
        }
    }

    /// Words touched by one step.
    pub(super) fn work(&self) -> usize {
        let jumps = self
            .jumps
            .iter()
            .map(|jump| jump.from.len() + jump.to.len());
        self.steps.len() + jumps.sum::<usize>()
    }

    pub(super) fn memory_usage(&self) -> usize {
        let jump =
            |jump: &Jump| size_of::<Jump>() + size_of_val(&*jump.from) + size_of_val(&*jump.to);
        size_of::<Self>()
            + 3 * size_of_val(&*self.steps)
            + self.jumps.iter().map(jump).sum::<usize>()
    }
}
