//! Why a pattern was refused.
//!
//! The server that sent the schema wrote the pattern, so the message gives a place and a reason and never repeats the text.
//! Serves schema compilation.

use std::fmt;

/// The reason a pattern cannot be enforced. Offsets are bytes into the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// The text is not a regular expression.
    Syntax {
        /// Where the fault begins.
        offset: usize,
        /// What is wrong, in words of ours.
        what: &'static str,
    },
    /// Look-ahead or look-behind: no linear-time engine offers it.
    LookAround {
        /// Where the group opens.
        offset: usize,
    },
    /// A back-reference: matching one is not a regular problem.
    BackReference {
        /// Where the escape begins.
        offset: usize,
    },
    /// `\p{…}` names a property that ECMA-262 or our tables lack.
    UnknownProperty {
        /// Where the escape begins.
        offset: usize,
    },
    /// A limit was reached: length, nesting or compiled size.
    TooLarge {
        /// The limit, in words of ours.
        what: &'static str,
    },
}

impl PatternError {
    pub(super) const fn syntax(offset: usize, what: &'static str) -> Self {
        Self::Syntax { offset, what }
    }

    pub(super) const fn too_large(what: &'static str) -> Self {
        Self::TooLarge { what }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { offset, what } => write!(f, "invalid pattern: {what} at byte {offset}"),
            Self::LookAround { offset } => {
                write!(f, "look-around at byte {offset} is not supported")
            }
            Self::BackReference { offset } => {
                write!(f, "back-reference at byte {offset} is not supported")
            }
            Self::UnknownProperty { offset } => {
                write!(f, "unknown Unicode property at byte {offset}")
            }
            Self::TooLarge { what } => write!(f, "pattern exceeds the limit on {what}"),
        }
    }
}
