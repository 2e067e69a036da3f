//! A fully built DFA over classes of characters, for patterns whose table stays small: nearly all.
//!
//! One look-up a character whatever the pattern, and no state besides the text. It is the simulation run ahead of time
//! over every class, so a large Unicode class costs one column instead of hundreds of UTF-8 states. Beyond a fixed
//! budget of states and work there is no table. Serves validation.

use std::collections::BTreeMap;

use super::simulation::{Alphabet, Simulation, State};

/// The table may have this many entries.
const MOST_ENTRIES: usize = 1 << 14;
/// The row of no return.
const DEAD: u16 = 0;

/// A compiled table.
#[derive(Debug)]
pub(super) struct Table {
    alphabet: Alphabet,
    /// One row a state, one column a class, and a last column for the end of the text. An entry is where the row of
    /// the next state begins. The first row is dead, the second has matched.
    entries: Box<[u16]>,
    width: u16,
    start: u16,
}

impl Table {
    /// The simulation as a table, if it stays small and building it touches no more words of the simulation than this.
    pub(super) fn new(simulation: &Simulation, most_work: usize) -> Option<Self> {
        let width = u16::try_from(simulation.classes() + 1).ok()?;
        let mut builder = Builder {
            simulation,
            width,
            rows: BTreeMap::new(),
            states: Vec::new(),
            entries: Vec::new(),
        };
        builder.entries.extend((0..width).map(|_| DEAD));
        builder.entries.extend((0..width).map(|_| width));
        let start = builder.row(simulation.start())?;
        let mut work = 0;
        let mut built = 0;
        while let Some(state) = builder.states.get(built).cloned() {
            work += (simulation.work() + 2) * usize::from(width);
            if work > most_work {
                return None;
            }
            builder.fill(&state)?;
            built += 1;
        }
        Some(Self {
            alphabet: simulation.alphabet().clone(),
            entries: builder.entries.into(),
            width,
            start,
        })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let mut row = self.start;
        for character in text.chars() {
            row = self.entries[usize::from(row) + self.alphabet.class(character)];
            if row <= self.width {
                return row == self.width;
            }
        }
        self.entries[usize::from(row) + usize::from(self.width) - 1] == self.width
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.alphabet.memory_usage() + size_of_val(&*self.entries)
    }
}

struct Builder<'s> {
    simulation: &'s Simulation,
    width: u16,
    rows: BTreeMap<State, u16>,
    /// The states in the order of their rows.
    states: Vec<State>,
    entries: Vec<u16>,
}

impl Builder<'_> {
    /// Appends the row of `state`.
    fn fill(&mut self, state: &State) -> Option<()> {
        for class in 0..self.simulation.classes() {
            let entry = match self.simulation.step(state, class) {
                None => self.width,
                Some(next) if self.simulation.is_dead(&next) => DEAD,
                Some(next) => self.row(next)?,
            };
            self.entries.push(entry);
        }
        let matched = self.simulation.is_match_at_end(state);
        self.entries.push(if matched { self.width } else { DEAD });
        Some(())
    }

    /// Where the row of `state` begins, now or once it is filled.
    fn row(&mut self, state: State) -> Option<u16> {
        if let Some(row) = self.rows.get(&state) {
            return Some(*row);
        }
        let row = (self.states.len() + 2) * usize::from(self.width);
        if row + usize::from(self.width) > MOST_ENTRIES {
            return None;
        }
        let row = u16::try_from(row).ok()?;
        self.rows.insert(state.clone(), row);
        self.states.push(state);
        Some(row)
    }
}
