//! What `verify` reports: how much was checked, and the first thing that does not hold.

use std::fmt;

use serde::Serialize;

use crate::id::Ulid;
use crate::time::Timestamp;

/// The outcome of walking every chain.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Verification {
    /// Records walked.
    pub records: u64,
    /// Chains met, those that retention removed included.
    pub chains: u64,
    /// Genuine checkpoints compared, in the store and in `checkpoints.log`.
    pub checkpoints: u64,
    /// Leaves of the store's tree: each signs for the records since the one before it in its chain.
    pub log_size: u64,
    /// Log heads compared that were kept outside the store.
    pub published_heads: u64,
    /// Records after the last signed head of their chain: a process that dies leaves some. Nothing shows yet whether they were
    /// changed or some are missing.
    pub after_last_checkpoint: u64,
    /// Records whose own chain died before it signed for them, and which a later start signed for as it found them.
    pub signed_by_later_start: u64,
    /// Chains of a version whose starts did not name the heads they found.
    pub older_chains: u64,
    /// Since when the heads of those chains are named in a signed record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub older_signed_since: Option<Timestamp>,
    /// Records that, by their chains' own account, could not be written.
    pub lost: u64,
    /// The first break, if there is one.
    pub first_break: Option<Break>,
}

impl Verification {
    /// Everything holds.
    pub fn is_intact(&self) -> bool {
        self.first_break.is_none()
    }
}

/// Where something does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Break {
    /// What does not hold.
    pub kind: BreakKind,
    /// Place in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain_id: Option<Ulid>,
    /// The record's number in its chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// The record's id, if it can still be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Ulid>,
    /// The tool, as `server:tool`, if it is about the catalogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Box<str>>,
}

impl Break {
    /// One whose place is not known.
    pub(super) fn new(kind: BreakKind) -> Self {
        Self {
            kind,
            seq: None,
            chain_id: None,
            n: None,
            id: None,
            tool: None,
        }
    }
}

/// What does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BreakKind {
    /// The hash does not fit the body and what came before: the record was changed.
    Changed,
    /// A record before this one is missing, or the order was changed.
    OutOfOrder,
    /// The chain's beginning is missing, and no signed floor accounts for it.
    NoBeginning,
    /// The chain's first record does not open this chain.
    WrongOpening,
    /// The head that this chain names as its predecessor is not there.
    MissingPredecessor,
    /// The chain differs from what was signed at this place: something up to here was rewritten.
    DiffersFromCheckpoint,
    /// Records up to this number were signed for and are gone.
    MissingTail,
    /// The chain has no signed head. Each is signed when it begins, so its checkpoints were removed.
    Unsigned,
    /// More records follow the last checkpoint than are ever left without one, or a stop, which is always signed.
    MissingCheckpoint,
    /// The store's tree of signed batches does not fit its leaves or its signed heads.
    WrongTree,
    /// The store ends before a log head that was published: it was replaced by an older copy, or cut.
    RolledBack,
    /// The store differs from a log head that was published: its history was replaced.
    DiffersFromAnchor,
    /// The records of a batch do not have the root that was signed for them.
    DiffersFromBatch,
    /// The record belongs to a chain the store does not know.
    UnknownChain,
    /// A checkpoint or floor is not signed by a trusted key, or was changed.
    ForgedCheckpoint,
    /// A line of `checkpoints.log` is not a checkpoint.
    MalformedLog,
    /// The record cannot be decoded.
    Undecodable,
    /// The database cannot be read from here on.
    Unreadable,
    /// The index says something else than the record.
    WrongIndex,
    /// The roll-ups behind `summary` differ from the records.
    WrongRollup,
    /// A tool's declaration does not fit its digest.
    WrongCatalogue,
}

impl fmt::Display for BreakKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Changed => "the record was changed: its hash does not fit",
            Self::OutOfOrder => "records are missing before this one, or the order was changed",
            Self::NoBeginning => "the beginning of the chain is missing",
            Self::WrongOpening => "the first record does not open this chain",
            Self::MissingPredecessor => "the head named as predecessor is not there",
            Self::DiffersFromCheckpoint => "the chain differs from its signed checkpoint",
            Self::MissingTail => "records that a checkpoint was signed for are missing",
            Self::Unsigned => "the chain has no signed head: its checkpoints were removed",
            Self::MissingCheckpoint => {
                "checkpoints that this chain must have were removed: nothing signs for its last records"
            }
            Self::WrongTree => "the tree of signed batches was changed",
            Self::RolledBack => {
                "the store ends before a published log checkpoint: it was replaced by an older copy, or cut"
            }
            Self::DiffersFromAnchor => {
                "the store differs from a published log checkpoint: its history was replaced"
            }
            Self::DiffersFromBatch => "the records differ from the root that was signed for them",
            Self::UnknownChain => "the chain is not known",
            Self::ForgedCheckpoint => "a checkpoint is not signed by a trusted key, or was changed",
            Self::MalformedLog => "a line of checkpoints.log, or of an anchor, is not a checkpoint",
            Self::Undecodable => "the record cannot be decoded",
            Self::Unreadable => "the database cannot be read from here on",
            Self::WrongIndex => "the index differs from the record",
            Self::WrongRollup => "the roll-ups differ from the records",
            Self::WrongCatalogue => "a tool's declaration does not fit its digest",
        })
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        let mut between = " (";
        let mut part = |name: &str, value: Option<String>| match value {
            Some(value) => {
                let written = write!(f, "{between}{name} {value}");
                between = ", ";
                written
            }
            None => Ok(()),
        };
        part("record", self.id.map(|id| id.to_string()))?;
        part("seq", self.seq.map(|seq| seq.to_string()))?;
        part("chain", self.chain_id.map(|chain| chain.to_string()))?;
        part("number", self.n.map(|n| n.to_string()))?;
        // Servers choose the names of their tools.
        let tool = self.tool.as_ref();
        part("tool", tool.map(|tool| tool.escape_debug().to_string()))?;
        if between == ", " {
            f.write_str(")")
        } else {
            Ok(())
        }
    }
}
