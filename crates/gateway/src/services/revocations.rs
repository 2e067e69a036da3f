//! The keys and certificates that have been revoked, as far as this gateway knows: it asks the store about those in its
//! configuration. What it has learned holds until it ends, also while the store is down.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use countersign_audit::{KeyDigest, Reader, StoreError};
use countersign_config::{CallerConfig, Config};
use countersign_dial::lock;

/// The revoked keys and certificates that this gateway knows of, by their digests.
#[derive(Debug, Default)]
pub(crate) struct Revocations {
    known: Mutex<Arc<HashSet<KeyDigest>>>,
}

impl Revocations {
    /// Asks the store about the callers of a configuration. Blocks.
    pub(crate) fn refresh(&self, reader: &Reader, config: &Config) -> Result<(), StoreError> {
        let known = self.known();
        let keys = config.callers.iter().map(CallerConfig::revocation_digest);
        let unknown: Vec<KeyDigest> = keys.filter(|key| !known.contains(key)).collect();
        reader
            .revoked(&unknown)?
            .into_iter()
            .for_each(|key| self.add(key));
        Ok(())
    }

    /// Takes in a key or certificate that was revoked just now.
    pub(crate) fn add(&self, key: KeyDigest) {
        Arc::make_mut(&mut lock(&self.known)).insert(key);
    }

    pub(crate) fn known(&self) -> Arc<HashSet<KeyDigest>> {
        Arc::clone(&lock(&self.known))
    }
}
