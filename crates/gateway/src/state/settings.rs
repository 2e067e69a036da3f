//! What the configuration makes of a gateway, ready to be used: itself, what is kept of payloads, and who may come in.
//! Immutable, like the snapshot it is a part of. A call keeps the settings it began with, and nothing else of its snapshot,
//! so that a long call does not keep other servers alive.

use std::path::PathBuf;
use std::sync::Arc;

use countersign_audit::{PayloadPolicy, Redactor};
use countersign_config::Config;
use countersign_inspect::encode_hex;
use sha2::{Digest as _, Sha256};

use super::Guard;

/// One configuration in use.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Arc<Config>,
    pub(crate) payloads: PayloadPolicy,
    /// Checks who may come in. None if the gateway does not listen.
    pub(crate) guard: Option<Guard>,
    /// Equal for gateways whose configurations say the same.
    pub(crate) digest: String,
}

impl Settings {
    /// `guard`: none for a gateway that listens nowhere, so that no client is ever asked for a key.
    pub(crate) fn new(config: Config, guard: Option<Guard>) -> Self {
        let activity = &config.activity;
        let payloads = PayloadPolicy::new(
            activity.payloads,
            activity.payload_max_bytes,
            Redactor::default(),
        );
        Self {
            digest: digest(&config),
            guard,
            payloads,
            config: Arc::new(config),
        }
    }
}

/// A digest of what `config show` prints: without secrets, and without what each gateway has of its own.
fn digest(config: &Config) -> String {
    let mut shared = config.clone();
    shared.listen = ([0, 0, 0, 0], 0).into();
    shared.data_dir = PathBuf::new();
    let digest = Sha256::digest(shared.show());
    encode_hex(&digest[..8])
}
