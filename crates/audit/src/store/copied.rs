//! What is copied from one store to another, as it is stored.

use crate::chain::Checkpoint;
use crate::digest::Digest;
use crate::id::Ulid;

/// A chain and the number it has in its store.
#[derive(Debug, Clone, Copy)]
pub(super) struct CopiedChain {
    pub(super) number: i64,
    pub(super) chain_id: Ulid,
}

/// A record as it is stored.
#[derive(Debug, Clone)]
pub(super) struct CopiedRow {
    pub(super) seq: u64,
    pub(super) chain: i64,
    pub(super) n: u64,
    pub(super) body: Vec<u8>,
    pub(super) hash: Digest,
}

/// A checkpoint or floor, with the number of its chain in the source.
pub(super) type CopiedCheckpoint = (i64, Checkpoint);
