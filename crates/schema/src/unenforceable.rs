//! Why a schema cannot be enforced.
//!
//! An unenforceable schema is an answer, not a crash: the caller decides whether it blocks, warns or passes. Messages
//! name keywords and places, and quote nothing else the schema's author wrote except a reference's URI.

use std::fmt;

use crate::uri;

/// The reason a schema did not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unenforceable {
    /// The document is not JSON.
    NotJson {
        /// Byte offset of the first error.
        offset: usize,
    },
    /// A keyword has a value its specification does not allow.
    Invalid {
        /// JSON pointer to the keyword or subschema.
        pointer: String,
        /// What is wrong, without quoting the schema.
        reason: &'static str,
    },
    /// A reference leaves the documents at hand. This crate has no loader: it never fetches one. A caller may hand the
    /// document in and compile again.
    ExternalRef {
        /// The absolute or unresolved URI.
        uri: String,
        /// The URI of the document with the reference; empty for the schema itself.
        referrer: String,
    },
    /// A reference points into a known document, at nothing.
    DanglingRef {
        /// JSON pointer to the reference keyword.
        pointer: String,
    },
    /// `$schema` names a dialect this crate does not know.
    UnknownDialect {
        /// The value of `$schema`.
        uri: String,
    },
    /// The dialect requires a vocabulary this crate does not know.
    UnknownVocabulary {
        /// The vocabulary's URI.
        uri: String,
    },
    /// A regular expression cannot be run in linear time or is not ECMA-262.
    Pattern {
        /// JSON pointer to the pattern.
        pointer: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A bound of [`Limits`](crate::Limits) was reached.
    Limit {
        /// Which bound.
        bound: &'static str,
    },
}

impl Unenforceable {
    /// Refuses the schema unless a bound is kept.
    pub(crate) fn check_limit(is_kept: bool, bound: &'static str) -> Result<(), Self> {
        if is_kept {
            return Ok(());
        }
        Err(Self::Limit { bound })
    }

    /// A reference to another document, which is never fetched.
    pub fn is_external_ref(&self) -> bool {
        matches!(self, Self::ExternalRef { .. })
    }

    /// The document that a reference leads to and that is not at hand: its URI, and that of the document with the
    /// reference, which is empty for the schema itself.
    pub fn missing_document(&self) -> Option<(&str, &str)> {
        match self {
            Self::ExternalRef { uri, referrer } => {
                Some((uri::split_fragment(uri).0, referrer.as_str()))
            }
            _ => None,
        }
    }

    /// The schema is too large in some way.
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::Limit { .. })
    }
}

impl fmt::Display for Unenforceable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { offset } => write!(f, "not JSON (at byte {offset})"),
            Self::Invalid { pointer, reason } => {
                write!(f, "invalid schema at {}: {reason}", or_root(pointer))
            }
            Self::ExternalRef { uri, .. } => write!(f, "external $ref is never fetched: {uri}"),
            Self::DanglingRef { pointer } => {
                write!(f, "reference at {} points at nothing", or_root(pointer))
            }
            Self::UnknownDialect { uri } => write!(f, "unknown $schema dialect: {uri}"),
            Self::UnknownVocabulary { uri } => write!(f, "required vocabulary is unknown: {uri}"),
            Self::Pattern { pointer, reason } => {
                write!(f, "pattern at {}: {reason}", or_root(pointer))
            }
            Self::Limit { bound } => write!(f, "schema exceeds the limit on {bound}"),
        }
    }
}

/// A pointer as messages give it: the empty one is the root's.
fn or_root(pointer: &str) -> &str {
    if pointer.is_empty() {
        "the root"
    } else {
        pointer
    }
}

impl std::error::Error for Unenforceable {}
