//! ECMA-262 regular expressions for patterns and texts from untrusted servers.
//!
//! Unicode mode, unanchored search, as JSON Schema asks; look-around and back-references are refused, because nothing
//! linear can match them. Answers whether a text matches, never where. Serves schema compilation and validation.
//!
//! # Why no general engine
//! `regex_automata` was the first choice and was measured. Where a table grows too large it builds one while it
//! searches: microseconds a byte on `[ab]*a[ab]{400}c$`, a cache of hundreds of kilobytes a pattern, and a cost that
//! depends on earlier texts, which no fuel can be charged for. It works on UTF-8 bytes, so `^\p{L}{1,64}$` outgrows a
//! megabyte. A yes or no needs less: over classes of characters the same patterns take hundreds of bytes, compile
//! several times faster, and the worst of them costs what [`Pattern::weight`] says. The tests keep `regex_automata` as
//! an oracle.

use literal::Literal;
use run::Run;
use simulation::Simulation;
use table::Table;

mod ast;
mod class;
mod error;
mod escape;
mod literal;
mod parser;
mod property;
mod run;
mod set;
mod simulation;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use error::PatternError;

/// What a pattern may cost to compile and hold.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_field_names,
    reason = "every limit of this crate is a `max_`"
)]
pub(crate) struct PatternLimits {
    /// Bytes of pattern text.
    pub(crate) max_bytes: usize,
    /// Bytes of the compiled automaton.
    pub(crate) max_compiled: usize,
    /// Groups inside groups; never more than 100, whatever is asked.
    pub(crate) max_nesting: usize,
    /// Work spent on trying to build a table. Without one a pattern is matched the slower way.
    pub(crate) max_table_work: usize,
}

impl Default for PatternLimits {
    fn default() -> Self {
        Self {
            max_bytes: 1024,
            max_compiled: 1 << 20,
            max_nesting: 50,
            max_table_work: 1 << 22,
        }
    }
}

/// A compiled pattern: immutable, shareable, linear in the text.
#[derive(Debug)]
pub(crate) struct Pattern {
    matcher: Matcher,
}

/// The cheapest way found to decide the pattern.
#[derive(Debug)]
enum Matcher {
    Literal(Literal),
    Run(Box<Run>),
    Table(Box<Table>),
    Simulation(Box<Simulation>),
}

impl Pattern {
    /// Compiles `source`, or says why it cannot be enforced.
    pub(crate) fn compile(source: &str, limits: &PatternLimits) -> Result<Self, PatternError> {
        let tree = parser::parse(source, limits)?.trimmed();
        let matcher = if let Some(literal) = Literal::new(&tree) {
            Matcher::Literal(literal)
        } else if let Some(run) = Run::new(&tree) {
            Matcher::Run(Box::new(run))
        } else {
            let simulation = Simulation::new(&tree, limits.max_compiled)?;
            match Table::new(&simulation, limits.max_table_work) {
                Some(table) => Matcher::Table(Box::new(table)),
                None => Matcher::Simulation(Box::new(simulation)),
            }
        };
        Ok(Self { matcher })
    }

    /// Whether `source` is a regular expression at all, one that cannot be enforced included.
    pub(crate) fn is_well_formed(source: &str) -> bool {
        !matches!(
            parser::parse(source, &PatternLimits::default()),
            Err(PatternError::Syntax { .. } | PatternError::UnknownProperty { .. })
        )
    }

    /// Whether the pattern matches anywhere in `text`.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match &self.matcher {
            Matcher::Literal(literal) => literal.is_match(text),
            Matcher::Run(run) => run.is_match(text),
            Matcher::Table(table) => table.is_match(text),
            Matcher::Simulation(simulation) => simulation.is_match(text),
        }
    }

    /// What 16 bytes of text cost, at worst, in units of fuel.
    ///
    /// Fixed when the pattern is compiled: 1 for a table or less, for a simulation about what it takes in multiples of
    /// that.
    pub(crate) fn weight(&self) -> u32 {
        let work = match &self.matcher {
            Matcher::Literal(_) | Matcher::Run(_) | Matcher::Table(_) => 0,
            Matcher::Simulation(simulation) => 1 + simulation.work() / 2,
        };
        u32::try_from(1 + work).unwrap_or(u32::MAX)
    }

    /// Bytes held.
    pub(crate) fn memory_usage(&self) -> usize {
        size_of::<Self>()
            + match &self.matcher {
                Matcher::Literal(literal) => literal.memory_usage(),
                Matcher::Run(run) => size_of::<Run>() + run.memory_usage(),
                Matcher::Table(table) => size_of::<Table>() + table.memory_usage(),
                Matcher::Simulation(simulation) => {
                    size_of::<Simulation>() + simulation.memory_usage()
                }
            }
    }
}
