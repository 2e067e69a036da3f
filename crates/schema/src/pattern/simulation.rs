//! Simulates the automaton of a pattern, one bit per position. Tables are built from it; where a table would be too large,
//! it is the engine.
//!
//! A position is one character set of the pattern, counted repetition written out. A step over one character is a
//! shift, a few masks and an intersection, so `a.{30}b` costs one machine word where a DFA needs a billion states. The
//! cost of a character is fixed when the pattern is compiled; no cache, no luck. Serves schema compilation and validation.

mod alphabet;
mod boundary;
mod build;
mod positions;

pub(super) use alphabet::Alphabet;
use boundary::{Boundary, BoundaryContext};

/// More positions than this is too large a pattern.
const MOST_POSITIONS: usize = 4096;

/// A compiled simulation.
#[derive(Debug)]
pub(super) struct Simulation {
    alphabet: Alphabet,
    /// For each class of characters, the positions that accept it: `words` words a class.
    reach: Box<[u64]>,
    words: usize,
    /// What may happen between two characters, once for each combination of assertions that makes a difference.
    boundaries: Box<[Boundary]>,
    /// The boundary for each [`BoundaryContext`].
    at: [usize; BoundaryContext::COUNT],
    /// Whether word boundaries matter; if so, a class has word characters only or none.
    words_matter: bool,
    /// For each class, whether it has word characters.
    is_word: Box<[bool]>,
    /// No match begins behind the start of the text, so an empty state is final.
    anchored: bool,
}

/// What the simulation knows between two characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    positions: Box<[u64]>,
    start: bool,
    /// Whether the character before was a word character, where that matters.
    word: bool,
}

impl Simulation {
    pub(super) fn is_match(&self, text: &str) -> bool {
        match self.words {
            0 | 1 => self.search::<1>(text),
            2..=8 => self.search::<8>(text),
            _ => self.search::<{ MOST_POSITIONS / 64 }>(text),
        }
    }

    /// Searches with states of at most `WORDS` words.
    fn search<const WORDS: usize>(&self, text: &str) -> bool {
        let (mut here, mut there) = ([0; WORDS], [0; WORDS]);
        let (mut state, mut next) = (&mut here[..self.words], &mut there[..self.words]);
        let mut start = true;
        let mut word_before = false;
        for character in text.chars() {
            let class = self.alphabet.class(character);
            let word = self.words_matter && self.is_word[class];
            let boundary = self.boundary(start, false, word != word_before);
            if boundary.is_match(state) {
                return true;
            }
            if !self.advance(boundary, state, next, class) && self.anchored {
                return false;
            }
            std::mem::swap(&mut state, &mut next);
            start = false;
            word_before = word;
        }
        self.boundary(start, true, word_before).is_match(state)
    }

    /// Moves over one character of `class`; false when no position is left.
    #[inline]
    fn advance(&self, boundary: &Boundary, state: &[u64], next: &mut [u64], class: usize) -> bool {
        boundary.advance(state, next);
        let reach = &self.reach[class * self.words..];
        let mut alive = 0;
        for (next, reach) in next.iter_mut().zip(reach) {
            *next &= reach;
            alive |= *next;
        }
        alive != 0
    }

    fn boundary(&self, start: bool, end: bool, edge: bool) -> &Boundary {
        &self.boundaries[self.at[BoundaryContext { start, end, edge }.index()]]
    }

    /// The state before the first character.
    pub(super) fn start(&self) -> State {
        State {
            positions: vec![0; self.words].into(),
            start: true,
            word: false,
        }
    }

    /// The state after one more character of `class`, or `None` if a match ends before it.
    pub(super) fn step(&self, state: &State, class: usize) -> Option<State> {
        let word = self.words_matter && self.is_word[class];
        let boundary = self.boundary(state.start, false, word != state.word);
        if boundary.is_match(&state.positions) {
            return None;
        }
        let mut positions = vec![0; self.words];
        self.advance(boundary, &state.positions, &mut positions, class);
        Some(State {
            positions: positions.into(),
            start: false,
            word,
        })
    }

    pub(super) fn is_match_at_end(&self, state: &State) -> bool {
        self.boundary(state.start, true, state.word)
            .is_match(&state.positions)
    }

    /// Whether nothing behind this state can match.
    pub(super) fn is_dead(&self, state: &State) -> bool {
        self.anchored && !state.start && state.positions.iter().all(|word| *word == 0)
    }

    pub(super) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    pub(super) fn classes(&self) -> usize {
        self.is_word.len()
    }

    /// Words touched by one character, at worst.
    pub(super) fn work(&self) -> usize {
        let work = self.boundaries.iter().map(Boundary::work);
        work.max().unwrap_or_default()
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.alphabet.memory_usage()
            + size_of_val(&*self.reach)
            + size_of_val(&*self.is_word)
            + self
                .boundaries
                .iter()
                .map(Boundary::memory_usage)
                .sum::<usize>()
    }
}
