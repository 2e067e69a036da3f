//! The result of one classifier about one tool result: its verdict, or why there is none, and what it cost.

use std::time::Duration;

use crate::error::Error;
use crate::verdict::Verdict;

/// What one classifier came to about one result.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The classifier.
    pub name: String,
    /// The worst verdict.
    pub verdict: Verdict,
    /// Where the text of that verdict begins.
    pub pointer: Option<String>,
    /// Why a part of the text, or all of it, has no verdict.
    pub error: Option<Error>,
    /// How many chunks have a verdict.
    pub chunks: usize,
    /// How many of them were remembered.
    pub remembered: usize,
    /// How many characters have a verdict.
    pub screened_chars: usize,
    /// How many there are.
    pub total_chars: usize,
    /// How long it took.
    pub elapsed: Duration,
}
