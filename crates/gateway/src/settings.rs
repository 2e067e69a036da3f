//! What the configuration makes of a gateway, ready to be used: itself, what is kept of payloads, and who may come in.
//! Immutable, like the snapshot it is a part of. A call keeps the one it began under, and nothing else of its snapshot,
//! so that a long call does not keep servers alive that it has nothing to do with.

use std::sync::Arc;

use countersign_audit::{PayloadPolicy, Redactor};
use countersign_config::Config;

use crate::downstream::Guard;
use crate::key::Keys;

/// One configuration in use.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Arc<Config>,
    pub(crate) payloads: PayloadPolicy,
    /// Who may come in; nothing where nobody can.
    pub(crate) guard: Option<Guard>,
}

impl Settings {
    /// `keys`: what clients and administrators authenticate with.
    pub(crate) fn new(config: Config, keys: &Keys) -> Self {
        let guard = Guard::new(&config, keys.api.value.expose(), keys.admin.value.expose());
        Self {
            guard: Some(guard),
            ..Self::keyless(config)
        }
    }

    /// For a gateway that listens nowhere, so that nobody is ever asked for a key.
    pub(crate) fn keyless(config: Config) -> Self {
        let activity = &config.activity;
        let payloads = PayloadPolicy::new(
            activity.payloads,
            activity.payload_max_bytes,
            Redactor::default(),
        );
        Self {
            guard: None,
            payloads,
            config: Arc::new(config),
        }
    }
}
