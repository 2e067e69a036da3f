//! Proof for readers who do not have the store: RFC 6962 Merkle trees, C2SP signed notes, log heads and receipts.
//!
//! Records are leaves of a small tree per chain checkpoint; the signed statements about these trees (`Batch`) are leaves of
//! one tree per store, whose head is signed as a `tlog-checkpoint` and can be published. Nothing here reads a database.

mod batch;
mod log_head;
pub(crate) mod merkle;
mod note;
pub(crate) mod receipt;

pub(crate) use batch::Batch;
pub use log_head::{LogHead, LogHeadError};
pub use note::{Note, NoteError, SignatureLine, VerifierKey, VerifierKeyError};
pub use receipt::{Receipt, ReceiptError, VerifiedReceipt};
