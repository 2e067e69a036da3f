//! The chain: what makes a change to a stored record visible.
//!
//! Every process start is one chain. Each record's hash covers its body and the hash before it; a signed checkpoint fixes the
//! head now and then; a chain's first record names the head it found. `key` signs, `checkpoint` is what is signed.

mod checkpoint;
mod key;

pub use checkpoint::{Checkpoint, CheckpointKind};
pub(crate) use checkpoint::{append_to_log, log_path, read_log};
pub(crate) use key::KEY_FILE;
pub use key::{KeyError, PublicKey, Signer, TrustedKeys};
