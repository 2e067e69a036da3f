//! A memory of tokens that were verified, so that a client which sends the same token with every call costs one
//! signature per minute. Tokens are kept as SHA-256 digests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ring::digest::{Context, SHA256};

use crate::caller::Caller;

type Digest = [u8; 32];

/// Tokens that were verified for a resource. An entry lives until the token expires, for a limited time, and no longer
/// than the keys and rules it was verified with.
#[derive(Debug)]
pub struct VerifiedTokens {
    most: usize,
    max_age: u64,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    /// The revision that all entries belong to.
    revision: u64,
    by_digest: HashMap<Digest, Entry>,
}

#[derive(Debug)]
struct Entry {
    caller: Arc<Caller>,
    until: u64,
}

impl VerifiedTokens {
    /// How long the entry of a signed token lives at most, in seconds.
    pub const SIGNED_AGE: u64 = 60;
    /// The same for an opaque token, which its issuer can revoke at any time.
    pub const OPAQUE_AGE: u64 = 30;

    /// Remembers at most `most` tokens, each for at most `max_age` seconds.
    pub fn new(most: usize, max_age: u64) -> Self {
        Self {
            most,
            max_age,
            entries: Mutex::default(),
        }
    }

    /// The caller of a token that was verified for this resource under this revision.
    ///
    /// `revision` is a number that grows with every change of keys or rules. Read it before the keys that a token is
    /// verified with, so that a change in between leaves no entry of the old keys behind.
    pub fn get(&self, token: &str, resource: &str, revision: u64, now: u64) -> Option<Arc<Caller>> {
        let digest = digest(token, resource);
        let entries = self.lock(revision);
        let entry = entries.by_digest.get(&digest)?;
        let is_current = entries.revision == revision && now < entry.until;
        is_current.then(|| Arc::clone(&entry.caller))
    }

    /// Remembers a token that was verified at `now` under this revision.
    pub fn insert(
        &self,
        token: &str,
        resource: &str,
        revision: u64,
        now: u64,
        caller: &Arc<Caller>,
    ) {
        let until = caller.expires.min(now.saturating_add(self.max_age));
        let digest = digest(token, resource);
        let mut entries = self.lock(revision);
        if entries.revision != revision || until <= now || self.most == 0 {
            return;
        }
        if entries.by_digest.len() >= self.most {
            entries.by_digest.retain(|_, entry| now < entry.until);
        }
        if entries.by_digest.len() >= self.most {
            // All are in use. Verifying again is cheaper than a list of what was used last.
            entries.by_digest.clear();
        }
        let caller = Arc::clone(caller);
        entries.by_digest.insert(digest, Entry { caller, until });
    }

    /// How many tokens are remembered, expired ones included.
    pub fn len(&self) -> usize {
        let entries = self.entries.lock();
        entries
            .unwrap_or_else(PoisonError::into_inner)
            .by_digest
            .len()
    }

    /// Whether no token is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries, of which none is older than the revision.
    fn lock(&self, revision: u64) -> MutexGuard<'_, Entries> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.revision < revision {
            entries.by_digest.clear();
            entries.revision = revision;
        }
        entries
    }
}

/// The length separates the two, so that no other pair has the same digest.
fn digest(token: &str, resource: &str) -> Digest {
    let mut context = Context::new(&SHA256);
    context.update(&(resource.len() as u64).to_le_bytes());
    context.update(resource.as_bytes());
    context.update(token.as_bytes());
    let mut digest = Digest::default();
    digest.copy_from_slice(context.finish().as_ref());
    digest
}
