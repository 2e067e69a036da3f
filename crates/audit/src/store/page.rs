//! What the store hands out: a `StoredRecord` with its place in the chain, a `Page` of them, a `Tail` for followers.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::Ulid;
use crate::record::Record;

/// A record and its place in the store and in its chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRecord {
    /// The record.
    #[serde(flatten)]
    pub record: Record,
    /// The chain of the process that wrote it.
    pub chain_id: Ulid,
    /// Its place in the store: the order of commits.
    pub seq: u64,
    /// Its number in the chain, from 0.
    pub n: u64,
    /// The hash before it; only `show` looks it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev: Option<Digest>,
    /// SHA-256(prev ‖ body).
    pub hash: Digest,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page {
    /// The records, newest first.
    pub activities: Vec<StoredRecord>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// All matches, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Stored records met on the way that cannot be read: run `verify`.
    #[serde(skip_serializing_if = "crate::record::is_zero")]
    pub unreadable: u64,
}

/// What came after a place, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// The matching records.
    pub records: Vec<StoredRecord>,
    /// Where to go on: everything up to here has been looked at.
    pub next: u64,
    /// There was more to look at.
    pub more: bool,
    /// Stored records met on the way that cannot be read.
    pub unreadable: u64,
}
