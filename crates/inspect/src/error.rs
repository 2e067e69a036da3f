//! What this crate could not do. A refused result is a verdict, not an error; these are about
//! declarations that cannot be read and values that are not what the caller asked for.

use std::fmt;

/// Why something could not be done. The kind is private; ask the predicates.
#[derive(Debug)]
pub struct Error(Kind);

#[derive(Debug)]
enum Kind {
    Declaration(&'static str),
    Typed(serde_json::Error),
    Sanitisation(countersign_sanitise::Error),
}

impl Error {
    pub(crate) fn declaration(why: &'static str) -> Self {
        Self(Kind::Declaration(why))
    }

    pub(crate) fn typed(error: serde_json::Error) -> Self {
        Self(Kind::Typed(error))
    }

    pub(crate) fn sanitisation(error: countersign_sanitise::Error) -> Self {
        Self(Kind::Sanitisation(error))
    }

    /// Sanitising cannot be done as it was asked for.
    pub fn is_sanitisation(&self) -> bool {
        matches!(self.0, Kind::Sanitisation(_))
    }

    /// The bytes are not a tool declaration.
    pub fn is_declaration(&self) -> bool {
        matches!(self.0, Kind::Declaration(_))
    }

    /// The structured content is not of the type that was asked for.
    pub fn is_typed(&self) -> bool {
        matches!(self.0, Kind::Typed(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Declaration(why) => write!(f, "not a tool declaration: {why}"),
            Kind::Sanitisation(error) => write!(f, "output_sanitisation: {error}"),
            Kind::Typed(_) => f.write_str("the structured content is not of this type"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Kind::Declaration(_) | Kind::Sanitisation(_) => None,
            Kind::Typed(error) => Some(error),
        }
    }
}
