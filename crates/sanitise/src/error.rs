//! The one error of this crate: settings that cannot be honoured, a token table that does not parse, or a
//! nonce that occurs in the text it should fence. Text itself never causes an error.

use std::fmt;

/// Why a sanitiser could not be built or a wrapper could not be drawn.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Kind);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    UnknownWord {
        key: &'static str,
        word: String,
        allowed: &'static [&'static str],
    },
    UnknownFamily {
        family: String,
        allowed: String,
    },
    ExtraToken {
        token: String,
        why: &'static str,
    },
    Table {
        line: usize,
        why: &'static str,
    },
    NonceOccurs,
}

impl Error {
    pub(crate) fn new(kind: Kind) -> Self {
        Self(kind)
    }

    /// The nonce is part of the content; draw another one.
    pub fn is_nonce_collision(&self) -> bool {
        matches!(self.0, Kind::NonceOccurs)
    }

    /// A setting has a value this crate does not know.
    pub fn is_setting(&self) -> bool {
        matches!(
            self.0,
            Kind::UnknownWord { .. } | Kind::UnknownFamily { .. } | Kind::ExtraToken { .. }
        )
    }

    /// A token table does not parse.
    pub fn is_table(&self) -> bool {
        matches!(self.0, Kind::Table { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::UnknownWord { key, word, allowed } => {
                write!(
                    f,
                    "{key}: unknown value {word:?}, allowed: {}",
                    allowed.join(", ")
                )
            }
            Kind::UnknownFamily { family, allowed } => {
                write!(
                    f,
                    "families: unknown family {family:?}, known: all, {allowed}"
                )
            }
            Kind::ExtraToken { token, why } => write!(f, "extra_tokens: {token:?} {why}"),
            Kind::Table { line, why } => write!(f, "token table, line {line}: {why}"),
            Kind::NonceOccurs => f.write_str("the nonce occurs in the content"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {}
