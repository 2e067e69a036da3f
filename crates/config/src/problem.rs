//! What is wrong with a configuration: where, what, and the next step. One error carries every
//! problem that one reading found.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// How many problems, and how many warnings, one reading reports at most. More would not be read,
/// and finding places costs time.
pub(crate) const MAX_REPORTED: usize = 50;

/// A position in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    /// RFC 6901 pointer; empty for the whole file.
    pub pointer: String,
    /// Line and column in characters, from 1, where the text is known.
    pub at: Option<(usize, usize)>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where; `None` when it is not about the file.
    pub place: Option<FilePosition>,
    /// What.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
}

/// Something that does not stop a start and should not go unread.
pub type Warning = Problem;

impl Problem {
    /// What is wrong, and the next step.
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..Self::without_hint(message)
        }
    }

    pub(crate) fn without_hint(message: impl Into<String>) -> Self {
        Self {
            place: None,
            message: message.into(),
            hint: None,
        }
    }

    /// The message with its file in front, as editors and terminals link it: `file:12:5: …`.
    pub fn in_file(&self, file: impl fmt::Display) -> String {
        match self.place.as_ref().and_then(|place| place.at) {
            Some(_) => format!("{file}:{self}"),
            None => format!("{file}: {self}"),
        }
    }

    /// The message, with its file in front if there is one.
    pub fn in_optional_file(&self, file: Option<&Path>) -> String {
        match file {
            Some(file) => self.in_file(file.display()),
            None => self.to_string(),
        }
    }

    pub(crate) fn at(mut self, place: FilePosition) -> Self {
        self.place = Some(place);
        self
    }
}

/// `12:5: /listen: what is wrong`, without the hint.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            if let Some((line, column)) = place.at {
                write!(f, "{line}:{column}: ")?;
            }
            if !place.pointer.is_empty() {
                // A key may be any text; a message stays one line.
                let shown = place.pointer.chars().filter(|c| !c.is_control());
                write!(f, "{}: ", shown.collect::<String>())?;
            }
        }
        f.write_str(&self.message)
    }
}

/// A configuration that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file could not be read.
    #[error("cannot read the configuration file {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It says something that is wrong.
    #[error("{}", summary(path.as_deref(), problems))]
    Invalid {
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// Everything that is wrong, in the order of the file; at least one.
        problems: Vec<Problem>,
    },
}

impl ConfigError {
    /// Fails with these problems, if there are any.
    pub(crate) fn if_any(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        let path = None;
        Err(Self::Invalid { path, problems })
    }

    /// Everything that is wrong with what was read.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Read { .. } => &[],
            Self::Invalid { problems, .. } => problems,
        }
    }

    /// The same error without line numbers, for a text that the reader of the error does not have.
    #[must_use]
    pub fn without_lines(mut self) -> Self {
        if let Self::Invalid { path, problems } = &mut self {
            *path = None;
            for problem in problems {
                problem.place.iter_mut().for_each(|place| place.at = None);
            }
        }
        self
    }

    /// The same mistakes, as those of a file.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        if let Self::Invalid { path, .. } = &mut self {
            *path = Some(file.to_owned());
        }
        self
    }
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> Self {
        Self::Invalid {
            path: None,
            problems: vec![problem],
        }
    }
}

fn summary(path: Option<&Path>, problems: &[Problem]) -> String {
    let Some((first, more)) = problems.split_first() else {
        return "the configuration cannot be used".to_owned();
    };
    let first = first.in_optional_file(path);
    match more.len() {
        0 => first,
        more => format!("{first} (and {more} more)"),
    }
}
