//! The automata that decide patterns no shortcut covers.
//!
//! A fully built DFA when it stays small: one table step a byte, no cache, no lock. Otherwise a DFA built while
//! searching, in a cache of fixed size, and a simulation of the NFA when that cache thrashes. All of them are linear in
//! the text. None reports where a match lies. Serves validation.

use std::sync::{Mutex, PoisonError};

use regex_automata::Input;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::hybrid::dfa::{Cache, DFA as LazyDfa};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures, pikevm::PikeVM};
use regex_syntax::hir::Hir;

use super::PatternLimits;
use super::error::PatternError;

/// The dense table may grow to this.
const DENSE_BYTES: usize = 64 << 10;
/// Work space for building the dense table; reaching it costs under a few milliseconds.
const DENSE_SCRATCH: usize = 256 << 10;
/// An NFA larger than this is not worth the attempt at a dense table.
const DENSE_STATES: usize = 4096;
/// The lazy DFA may fill this before it starts over.
const LAZY_BYTES: usize = 256 << 10;
/// How often the lazy DFA may start over before its yield is judged.
const LAZY_CLEARS: usize = 3;
/// Fewer bytes searched for each state built, and the NFA is simulated instead.
const LAZY_YIELD: usize = 10;

/// A compiled automaton.
#[derive(Debug)]
pub(super) enum Engine {
    Dense(Box<dense::DFA<Vec<u32>>>),
    Lazy(Box<Lazy>),
}

impl Engine {
    pub(super) fn compile(hir: &Hir, limits: &PatternLimits) -> Result<Self, PatternError> {
        let nfa = nfa(hir, limits)?;
        match dense(&nfa) {
            Some(dfa) => Ok(Self::Dense(Box::new(dfa))),
            None => Lazy::new(nfa).map(|lazy| Self::Lazy(Box::new(lazy))),
        }
    }

    /// The engine of large patterns, for a pattern that may be small.
    #[cfg(test)]
    pub(super) fn compile_lazy(hir: &Hir, limits: &PatternLimits) -> Result<Self, PatternError> {
        Lazy::new(nfa(hir, limits)?).map(|lazy| Self::Lazy(Box::new(lazy)))
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Dense(dfa) => dfa
                .try_search_fwd(&Input::new(text).earliest(true))
                .expect("the table has an unanchored start and no byte makes it quit")
                .is_some(),
            Self::Lazy(lazy) => lazy.is_match(text),
        }
    }

    /// The states one byte may touch, at worst.
    pub(super) fn states(&self) -> usize {
        match self {
            Self::Dense(_) => 1,
            Self::Lazy(lazy) => lazy.simulation.get_nfa().states().len(),
        }
    }

    pub(super) fn memory_usage(&self) -> usize {
        match self {
            Self::Dense(dfa) => dfa.memory_usage(),
            Self::Lazy(lazy) => {
                lazy.simulation.get_nfa().memory_usage()
                    + lazy.dfa.get_config().get_cache_capacity()
            }
        }
    }
}

fn nfa(hir: &Hir, limits: &PatternLimits) -> Result<NFA, PatternError> {
    thompson::Compiler::new()
        .configure(
            thompson::Config::new()
                .utf8(false)
                .nfa_size_limit(Some(limits.max_compiled))
                .which_captures(WhichCaptures::None),
        )
        .build_from_hir(hir)
        .map_err(|_| PatternError::too_large("compiled size"))
}

fn dense(nfa: &NFA) -> Option<dense::DFA<Vec<u32>>> {
    if nfa.states().len() > DENSE_STATES {
        return None;
    }
    dense::Builder::new()
        .configure(
            dense::Config::new()
                .start_kind(StartKind::Unanchored)
                .dfa_size_limit(Some(DENSE_BYTES))
                .determinize_size_limit(Some(DENSE_SCRATCH)),
        )
        .build_from_nfa(nfa)
        .ok()
}

/// A DFA built while it searches, and the NFA it is built from.
#[derive(Debug)]
pub(super) struct Lazy {
    dfa: LazyDfa,
    simulation: PikeVM,
    /// One cache is kept and lent to one search; a search that finds it lent makes its own and drops it. A pool would
    /// keep one a thread, for every pattern of every schema.
    cache: Mutex<Option<Box<Cache>>>,
}

impl Lazy {
    fn new(nfa: NFA) -> Result<Self, PatternError> {
        let too_large = |()| PatternError::too_large("compiled size");
        let simulation = PikeVM::new_from_nfa(nfa.clone()).map_err(|_| too_large(()))?;
        let dfa = LazyDfa::builder()
            .configure(
                LazyDfa::config()
                    .cache_capacity(LAZY_BYTES)
                    .skip_cache_capacity_check(true)
                    .minimum_cache_clear_count(Some(LAZY_CLEARS))
                    .minimum_bytes_per_state(Some(LAZY_YIELD)),
            )
            .build_from_nfa(nfa)
            .map_err(|_| too_large(()))?;
        Ok(Self {
            dfa,
            simulation,
            cache: Mutex::new(None),
        })
    }

    fn is_match(&self, text: &str) -> bool {
        let input = Input::new(text).earliest(true);
        let mut cache = self
            .lent()
            .take()
            .unwrap_or_else(|| Box::new(self.dfa.create_cache()));
        let verdict = self.dfa.try_search_fwd(&mut cache, &input);
        *self.lent() = Some(cache);
        if let Ok(found) = verdict {
            return found.is_some();
        }
        let mut cache = self.simulation.create_cache();
        self.simulation.is_match(&mut cache, input)
    }

    fn lent(&self) -> std::sync::MutexGuard<'_, Option<Box<Cache>>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
