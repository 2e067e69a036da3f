//! How a classifier is asked and what its verdicts lead to, whatever its kind.

use std::time::Duration;

use countersign_inspect::word_enum;

word_enum! {
    /// What is done about an injection.
    #[derive(Default)]
    pub enum OnInjection {
        /// It is recorded and forwarded.
        #[default]
        Report = "report",
        /// The result is blocked.
        Block = "block",
    }
}

impl OnInjection {
    /// The default for results that could not be screened: an operator who blocks on a verdict does not want results
    /// forwarded without one.
    pub const fn on_error(self) -> OnError {
        match self {
            Self::Report => OnError::Flag,
            Self::Block => OnError::Closed,
        }
    }
}

word_enum! {
    /// What becomes of a result, or of a part of one, that could not be screened.
    pub enum OnError {
        /// Forwarded; only counted.
        Open = "open",
        /// Forwarded, with a finding.
        Flag = "flag",
        /// Blocked.
        Closed = "closed",
    }
}

/// How a classifier is asked and what its verdicts lead to, whatever its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is done about an injection.
    pub action: OnInjection,
    /// What is done about text that could not be screened.
    pub on_error: OnError,
    /// How long one question may take.
    pub timeout: Duration,
    /// How many questions are under way at a time, of all calls together.
    pub max_concurrent: usize,
    /// How many chunks of one result are screened at most.
    pub max_chunks: usize,
    /// How long a chunk is at most; what the classifier takes if it is less, or if nothing is said.
    pub chunk_chars: Option<usize>,
    /// How many verdicts are remembered; 0 remembers none.
    pub cache_entries: usize,
    /// For how long.
    pub cache_ttl: Duration,
    /// After how many failures in a row the classifier is left alone.
    pub breaker_failures: u32,
    /// For how long.
    pub breaker_pause: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            action: OnInjection::Report,
            on_error: OnError::Flag,
            timeout: Duration::from_millis(800),
            max_concurrent: 8,
            max_chunks: 32,
            chunk_chars: None,
            cache_entries: 10_000,
            cache_ttl: Duration::from_mins(10),
            breaker_failures: 5,
            breaker_pause: Duration::from_secs(10),
        }
    }
}
