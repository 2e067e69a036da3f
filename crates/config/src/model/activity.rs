//! The activity log: what is kept, for how long, and how surely.

use countersign_audit::{Durability, OnStoreError, Payloads};

use crate::secret::Secret;

/// What is kept, for how long, and how surely.
#[derive(Clone, Debug)]
pub struct ActivityConfig {
    /// Records older than this go; 0 keeps them.
    pub retention_days: u32,
    /// Nothing younger than this goes, whatever the other limits say.
    pub retention_floor_days: u32,
    /// More records than this go; 0 is no limit.
    pub max_records: u64,
    /// Records go until the store is no larger than this; 0 is no limit.
    pub max_size_mb: u64,
    /// Whether payloads are stored.
    pub payloads: Payloads,
    /// How much of one at most.
    pub payload_max_bytes: usize,
    /// When a record counts as written.
    pub durability: Durability,
    /// What a call does when its record cannot be written.
    pub on_store_error: OnStoreError,
    /// What signs checkpoints; `None`: the one in the data directory, generated at first start.
    pub signing_key: Option<Secret>,
}

impl Default for ActivityConfig {
    fn default() -> Self {
        Self {
            retention_days: 90,
            retention_floor_days: 1,
            max_records: 1_000_000,
            // A busy day has to fit: within `retention_floor_days` nothing is removed, and strict
            // gateways refuse calls that they cannot record.
            max_size_mb: 8192,
            payloads: Payloads::default(),
            payload_max_bytes: 64 << 10,
            durability: Durability::default(),
            on_store_error: OnStoreError::default(),
            signing_key: None,
        }
    }
}
