//! The keys that have been revoked, as far as this gateway knows: it asks the store about the keys in its configuration. What
//! it has learned holds until it ends, also while the store is down.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use countersign_audit::{KeyDigest, Reader, StoreError};
use countersign_config::{CallerCredential, Config};
use countersign_dial::lock;

/// The revoked keys that this gateway knows of.
#[derive(Debug, Default)]
pub(crate) struct Revocations {
    known: Mutex<Arc<HashSet<KeyDigest>>>,
}

impl Revocations {
    /// Asks the store about the keys of a configuration. Blocks.
    pub(crate) fn refresh(&self, reader: &Reader, config: &Config) -> Result<(), StoreError> {
        let known = self.known();
        let keys = config
            .callers
            .iter()
            .filter_map(|caller| match &caller.credential {
                CallerCredential::Key(key) => Some(*key),
                CallerCredential::Certificate(_) => None,
            });
        let unknown: Vec<KeyDigest> = keys.filter(|key| !known.contains(key)).collect();
        reader
            .revoked(&unknown)?
            .into_iter()
            .for_each(|key| self.add(key));
        Ok(())
    }

    /// Takes in a key that was revoked just now.
    pub(crate) fn add(&self, key: KeyDigest) {
        Arc::make_mut(&mut lock(&self.known)).insert(key);
    }

    pub(crate) fn known(&self) -> Arc<HashSet<KeyDigest>> {
        Arc::clone(&lock(&self.known))
    }
}
