//! Why a request has no answer.

use countersign_inspect::Refusal;

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// Nothing was sent: the next life of the server may have it.
    NotSent,
    /// The caller is told this.
    Refused(Refusal),
}
