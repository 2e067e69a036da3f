//! ECMA-262 regular expressions for patterns and texts that somebody else wrote.
//!
//! Unicode mode, unanchored search, as JSON Schema asks; look-around and back-references are refused, because nothing
//! linear can match them. Answers whether a text matches, never where. Serves schema compilation and validation.

use engine::Engine;
use literal::Literal;
use shape::Shape;

mod ast;
mod class;
mod engine;
mod error;
mod escape;
mod hir;
mod literal;
mod parser;
mod property;
mod set;
mod shape;
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
}

impl Default for PatternLimits {
    fn default() -> Self {
        Self {
            max_bytes: 1024,
            max_compiled: 1 << 20,
            max_nesting: 50,
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
    Shape(Shape),
    Engine(Engine),
}

impl Pattern {
    /// Compiles `source`, or says why it cannot be enforced.
    pub(crate) fn compile(source: &str, limits: &PatternLimits) -> Result<Self, PatternError> {
        let tree = parser::parse(source, limits)?.trimmed();
        let matcher = if let Some(literal) = Literal::new(&tree) {
            Matcher::Literal(literal)
        } else if let Some(shape) = Shape::new(&tree) {
            Matcher::Shape(shape)
        } else {
            Matcher::Engine(Engine::compile(&hir::translate(&tree), limits)?)
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
            Matcher::Shape(shape) => shape.is_match(text),
            Matcher::Engine(engine) => engine.is_match(text),
        }
    }

    /// What 16 bytes of text cost, at worst, in units of fuel.
    pub(crate) fn weight(&self) -> u32 {
        let states = match &self.matcher {
            Matcher::Literal(_) => 1,
            Matcher::Shape(shape) => shape.steps(),
            Matcher::Engine(engine) => engine.states(),
        };
        u32::try_from(1 + states / 8).unwrap_or(u32::MAX)
    }

    /// Bytes held, the cache of a lazily built automaton included at its largest.
    pub(crate) fn memory_usage(&self) -> usize {
        size_of::<Self>()
            + match &self.matcher {
                Matcher::Literal(literal) => literal.memory_usage(),
                Matcher::Shape(shape) => shape.memory_usage(),
                Matcher::Engine(engine) => engine.memory_usage(),
            }
    }
}
