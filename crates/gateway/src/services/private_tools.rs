//! Tools that a server shows only to some clients. Clients that are shown the same ones share them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use countersign_dial::lock;
use countersign_inspect::{Digest, Policy};

use crate::state::{Entry, SchemaDocuments, Tool};

/// So many are remembered before those are forgotten that no client has any more.
const REMEMBERED: usize = 1024;

/// Tools by what they are declared with.
#[derive(Debug, Default)]
pub(crate) struct PrivateTools(Mutex<HashMap<[u8; 32], Weak<Tool>>>);

impl PrivateTools {
    /// The tool of a declaration under a policy. `added` is told of one that no client has yet. Blocks: its schemas have to
    /// be compiled then.
    pub(crate) fn get_or_capture(
        &self,
        entry: Entry,
        server: &str,
        (policy, documents): (Policy, Arc<SchemaDocuments>),
        added: impl FnOnce(&Tool),
    ) -> Arc<Tool> {
        let key = [server.as_bytes(), b"\0", entry.raw()].concat();
        let key = *Digest::sha256(&key).as_bytes();
        let known = lock(&self.0).get(&key).and_then(Weak::upgrade);
        if let Some(known) = known.filter(|known| known.is_captured_with(&policy, &documents)) {
            return known;
        }
        // It is not in the store, so it has no generation.
        let tool = Arc::new(Tool::capture_with(entry, server, 0, policy, documents));
        added(&tool);
        let mut all = lock(&self.0);
        if all.len() >= REMEMBERED {
            all.retain(|_, tool| tool.strong_count() > 0);
        }
        all.insert(key, Arc::downgrade(&tool));
        tool
    }
}
