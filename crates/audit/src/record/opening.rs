//! The first record of a chain says which chain it opens, and which one was there before.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::Ulid;

/// What the first record of a chain says about the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The chain this record opens.
    pub chain_id: Ulid,
    /// The head that was the last record of the store at that moment, if one was visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Head>,
    /// The public key that signs this chain's checkpoints, in hexadecimal.
    pub key: String,
    /// What was started, as it calls itself.
    pub version: String,
    /// The last record of every chain that wrote since the last first record that named heads; of all chains if there was
    /// none. Newest first. `None` in records of versions that named no heads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heads: Option<Vec<Head>>,
    /// Fewer records than this are ever left without a checkpoint in this chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_records: Option<u64>,
}

/// A place in a chain: the record number `n` of `chain_id`, and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The chain.
    pub chain_id: Ulid,
    /// The record's number in its chain, from 0.
    pub n: u64,
    /// The record's hash.
    pub hash: Digest,
}
