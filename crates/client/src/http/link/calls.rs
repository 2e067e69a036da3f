//! The calls under way over a connection that belongs to one client, so that a question of the server's can find one of
//! them and keep them waiting. A shared connection does not need it, and keeps none.

use std::collections::BTreeMap;
use std::sync::Mutex;

use countersign_dial::lock;

use crate::notes::NoteSink;

/// The notes of the calls under way, by the ids they were sent under.
#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<BTreeMap<u64, NoteSink>>);

impl Calls {
    /// Notes a call as under way until the guard is dropped.
    pub(crate) fn begin(&self, id: u64, notes: &NoteSink) -> CallUnderWay<'_> {
        lock(&self.0).insert(id, notes.clone());
        CallUnderWay { calls: self, id }
    }

    /// Renews the time-out of every call.
    pub(crate) fn renew(&self) {
        for notes in lock(&self.0).values() {
            notes.renew();
        }
    }

    /// The notes of the newest call that has a reader.
    pub(crate) fn any(&self) -> Option<NoteSink> {
        let calls = lock(&self.0);
        calls.values().rev().find(|notes| notes.is_open()).cloned()
    }
}

/// A call under way.
#[derive(Debug)]
pub(crate) struct CallUnderWay<'a> {
    calls: &'a Calls,
    id: u64,
}

impl Drop for CallUnderWay<'_> {
    fn drop(&mut self) {
        lock(&self.calls.0).remove(&self.id);
    }
}
