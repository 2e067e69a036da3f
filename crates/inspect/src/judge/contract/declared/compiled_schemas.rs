//! Compiled schemas that are in use, so that tools which declare the same schema share its compiled form: many tools of a
//! server return results of one shape, and one server may be reached by many clients, each with a list of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use countersign_schema::{Schema, Unenforceable};

use crate::digest::Digest;

/// The text of a schema, and whether formats are asserted.
type Key = (Digest, bool);

/// Schemas below this number are not looked through for those that are no longer in use.
const LEAST: usize = 1024;

static COMPILED: Mutex<CompiledSchemas> = Mutex::new(CompiledSchemas::new());

#[derive(Debug)]
struct CompiledSchemas {
    by_key: BTreeMap<Key, Weak<Schema>>,
    /// At this number those that are no longer in use are removed.
    full_at: usize,
}

impl CompiledSchemas {
    const fn new() -> Self {
        Self {
            by_key: BTreeMap::new(),
            full_at: LEAST,
        }
    }

    fn get(&self, key: &Key) -> Option<Arc<Schema>> {
        self.by_key.get(key)?.upgrade()
    }

    fn insert(&mut self, key: Key, schema: &Arc<Schema>) {
        self.by_key.insert(key, Arc::downgrade(schema));
        if self.by_key.len() >= self.full_at {
            self.by_key.retain(|_, schema| schema.strong_count() > 0);
            self.full_at = LEAST.max(2 * self.by_key.len());
        }
    }
}

/// The compiled form of a schema: one that is in use, or a new one.
pub(super) fn share(
    key: Key,
    compile: impl FnOnce() -> Result<Schema, Unenforceable>,
) -> Result<Arc<Schema>, Unenforceable> {
    if let Some(known) = compiled().get(&key) {
        return Ok(known);
    }
    // Not under the lock: compiling takes time.
    let schema = Arc::new(compile()?);
    compiled().insert(key, &schema);
    Ok(schema)
}

fn compiled() -> MutexGuard<'static, CompiledSchemas> {
    COMPILED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use countersign_schema::{Limits, compile};

    use super::*;

    fn schema() -> Result<Schema, Unenforceable> {
        compile(br#"{"type":"object"}"#, &Limits::default())
    }

    #[test]
    fn a_schema_in_use_is_compiled_once() {
        let key = (Digest::sha256(b"a schema in use"), false);
        let first = share(key, schema).expect("compiles");
        let again = share(key, || panic!("compiled again")).expect("known");
        assert!(Arc::ptr_eq(&first, &again));
        let with_formats = share((key.0, true), schema).expect("compiles");
        assert!(!Arc::ptr_eq(&first, &with_formats));
        drop((first, again));
        assert!(compiled().get(&key).is_none());
    }

    #[test]
    fn schemas_that_are_no_longer_in_use_are_removed() {
        let mut known = CompiledSchemas::new();
        let kept = Arc::new(schema().expect("compiles"));
        for number in 0..10 * LEAST {
            let key = (Digest::sha256(&number.to_le_bytes()), false);
            if number == 7 {
                known.insert(key, &kept);
            } else {
                known.insert(key, &Arc::new(schema().expect("compiles")));
            }
            assert!(known.by_key.len() <= LEAST);
        }
        let seventh = known.get(&(Digest::sha256(&7_usize.to_le_bytes()), false));
        assert!(seventh.is_some_and(|found| Arc::ptr_eq(&found, &kept)));
    }
}
