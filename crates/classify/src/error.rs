//! Why a classifier gave no verdict. An error is never a verdict: what becomes of the result is for `on_error` to say.
//! Nothing the classifier wrote is in it.

use thiserror::Error;

/// Why there is no verdict about a text, or about a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// It did not answer in time.
    #[error("no answer in time")]
    TimedOut,
    /// There is no connection, or it broke.
    #[error("not reachable")]
    Unreachable,
    /// It was asked more often than it allows.
    #[error("throttled")]
    Throttled,
    /// It answered with this HTTP status.
    #[error("answered with status {0}")]
    Status(u16),
    /// Its answer is not what its interface says.
    #[error("an answer that is not understood")]
    Malformed,
    /// It answered, but not about every chunk.
    #[error("not one verdict for each chunk")]
    Incomplete,
    /// Its answer is larger than any answer should be.
    #[error("an answer that is too large")]
    TooLarge,
    /// It failed so often that it is left alone for a while.
    #[error("left alone after failures")]
    Paused,
    /// There was more text than is screened.
    #[error("a part of the text was not screened")]
    Uncovered,
    /// A bug of this crate or of a library.
    #[error("it failed")]
    Internal,
}

impl Error {
    /// Every reason there is, for metrics that show zeros.
    pub const REASONS: [&'static str; 10] = [
        "timed_out",
        "unreachable",
        "throttled",
        "status",
        "malformed",
        "incomplete",
        "too_large",
        "paused",
        "uncovered",
        "internal",
    ];

    /// One word for metrics and records.
    pub const fn reason(self) -> &'static str {
        Self::REASONS[self.index()]
    }

    pub(crate) const fn index(self) -> usize {
        match self {
            Self::TimedOut => 0,
            Self::Unreachable => 1,
            Self::Throttled => 2,
            Self::Status(_) => 3,
            Self::Malformed => 4,
            Self::Incomplete => 5,
            Self::TooLarge => 6,
            Self::Paused => 7,
            Self::Uncovered => 8,
            Self::Internal => 9,
        }
    }
}

/// Why a classifier cannot be set up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The address cannot be used.
    #[error("the address is not an http or https one with a host")]
    Address,
    /// A header or key cannot be sent.
    #[error("a key or header has characters that cannot be sent")]
    Header,
    /// This build has no local model.
    #[error("this build has no local model")]
    NoLocalModel,
    /// The model's files cannot be used.
    #[error("the model in {} cannot be used: {why}", path.display())]
    Model {
        /// The folder.
        path: std::path::PathBuf,
        /// Why.
        why: String,
    },
}
