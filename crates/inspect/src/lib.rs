//! One verdict for every tool result, from its raw bytes and the contract its server declared.
//!
//! The crate is pure and sync: no clock, no randomness, no I/O. What a result is judged by
//! arrives as an argument, and what comes back is a [`Decision`] with the [`Finding`]s behind it.
//!
//! ```
//! use countersign_inspect::{Decision, Finding, Severity, Stage};
//!
//! let finding = Finding::new(Stage::Contract, "schema.type", Severity::Violation).at("/id");
//! assert_eq!(finding.instance_pointer.as_deref(), Some("/id"));
//! assert_eq!(Decision::Flagged.max(Decision::Blocked), Decision::Blocked);
//! ```
#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

mod choice;
pub mod config;
mod verdict;

pub use choice::UnknownWord;
pub use verdict::{Decision, Finding, Mode, Severity, Stage};
