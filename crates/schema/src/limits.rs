//! Bounds that hold while a schema is compiled.
//!
//! Every bound is generous against what real servers declare (the largest real tool schema has 89 subschemas) and
//! small against what a machine can do. Exceeding one makes the schema unenforceable; it is never truncated.

/// Upper bounds on a schema document. See the crate README for the reasons behind each default.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the schema document.
    pub max_bytes: usize,
    /// JSON nesting depth of the schema document.
    pub max_depth: u32,
    /// Subschemas, those of referenced documents included.
    pub max_subschemas: usize,
    /// `$ref`, `$dynamicRef` and `$recursiveRef` keywords.
    pub max_references: usize,
    /// Longest chain of applicators that stay on one instance value (`allOf`, `$ref`, `if` and their kind).
    pub max_in_place_chain: usize,
    /// Subschemas that may run on one instance value, counted with repetition.
    pub max_in_place_weight: u64,
    /// Values of all `enum` keywords together.
    pub max_enum_values: usize,
    /// Regular expressions.
    pub max_patterns: usize,
    /// Bytes of one regular expression.
    pub max_pattern_bytes: usize,
    /// Bytes one compiled regular expression may occupy.
    pub max_compiled_pattern: usize,
    /// Bytes all compiled regular expressions may occupy together, their caches included at their largest.
    pub max_compiled_patterns: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 256 * 1024,
            max_depth: 64,
            max_subschemas: 4096,
            max_references: 1024,
            max_in_place_chain: 64,
            max_in_place_weight: 4096,
            max_enum_values: 10_000,
            max_patterns: 64,
            max_pattern_bytes: 1024,
            max_compiled_pattern: 1024 * 1024,
            max_compiled_patterns: 4 * 1024 * 1024,
        }
    }
}

impl Limits {
    /// No bounds but those that keep memory proportional to the schema.
    ///
    /// For trusted schemas, and for tests that show fuel alone to be enough.
    pub fn lifted() -> Self {
        Self {
            max_bytes: 64 * 1024 * 1024,
            max_depth: 1_000_000,
            max_subschemas: 4_000_000,
            max_references: 4_000_000,
            max_in_place_chain: usize::MAX,
            max_in_place_weight: u64::MAX,
            max_enum_values: usize::MAX,
            max_patterns: 100_000,
            max_pattern_bytes: 64 * 1024,
            max_compiled_pattern: 1024 * 1024,
            max_compiled_patterns: 8 * 1024 * 1024,
        }
    }
}
