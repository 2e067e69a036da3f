//! The findings of classifiers about a result, or why none ran. Classifiers run outside this crate, between
//! `examine` and `conclude`.

use crate::config::Posture;
use crate::verdict::Finding;

/// Why no classifier saw a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// None is configured for this tool.
    NotConfigured,
    /// The result has no free text.
    NoFreeText,
    /// The result is blocked already.
    AlreadyBlocked,
}

/// One classifier's finding and what its operator wants done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifierFinding {
    /// What it found.
    pub finding: Finding,
    /// `Block`, or `Allow` to record only.
    pub action: Posture,
}

/// The classifiers' part of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screening {
    pub(crate) screened: Vec<ClassifierFinding>,
    skipped: Option<SkipReason>,
}

impl Screening {
    /// No classifier was asked.
    pub fn skipped(why: SkipReason) -> Self {
        Self {
            screened: Vec::new(),
            skipped: Some(why),
        }
    }

    /// Classifiers were asked; these are their findings, possibly none.
    pub fn with_findings(screened: Vec<ClassifierFinding>) -> Self {
        Self {
            screened,
            skipped: None,
        }
    }

    /// What the classifiers found, and what their operator wants done about it.
    pub fn findings(&self) -> &[ClassifierFinding] {
        &self.screened
    }

    /// Why no classifier was asked, if none was.
    pub fn skip_reason(&self) -> Option<SkipReason> {
        self.skipped
    }
}
