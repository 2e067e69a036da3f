//! Verdicts remembered for a while, by a digest of everything they depend on. In memory only, bounded in number; the
//! text itself is not kept, and errors never are.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use countersign_dial::lock;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::verdict::{Origin, Verdict};

/// What a verdict is remembered under.
pub(crate) type Key = [u8; 32];

#[derive(Debug)]
pub(crate) struct Cache {
    entries: usize,
    ttl: Duration,
    kept: Mutex<CacheEntries>,
}

#[derive(Debug, Default)]
struct CacheEntries {
    verdicts: HashMap<Key, (Verdict, Instant)>,
    /// In the order they were added, which is the order they grow old in.
    order: VecDeque<(Key, Instant)>,
}

impl Cache {
    pub(crate) fn new(entries: usize, ttl: Duration) -> Self {
        let kept = Mutex::default();
        Self { entries, ttl, kept }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Verdict> {
        let kept = lock(&self.kept);
        let (verdict, until) = kept.verdicts.get(key)?;
        (*until > Instant::now()).then(|| verdict.clone())
    }

    pub(crate) fn put(&self, key: Key, verdict: Verdict) {
        if self.entries == 0 {
            return;
        }
        let now = Instant::now();
        let until = now + self.ttl;
        let mut kept = lock(&self.kept);
        kept.verdicts.insert(key, (verdict, until));
        kept.order.push_back((key, until));
        while let Some((oldest, its)) = kept.order.front().copied() {
            if kept.order.len() <= self.entries && its > now {
                break;
            }
            kept.order.pop_front();
            // One that was renewed stays until its own time.
            if kept
                .verdicts
                .get(&oldest)
                .is_some_and(|(_, until)| *until == its)
            {
                kept.verdicts.remove(&oldest);
            }
        }
    }
}

/// The digest of a text for one classifier. Each part is preceded by its length, so that no two sets of parts are one.
pub(crate) fn key(identity: &str, origin: Option<&Origin>, text: &str) -> Key {
    let mut hash = Sha256::new();
    let (server, tool) = origin.map_or(("", ""), |origin| (&*origin.server, &*origin.tool));
    for part in [identity, server, tool, text] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Action;

    fn named(name: &str) -> Key {
        key(name, None, "")
    }

    #[tokio::test(start_paused = true)]
    async fn verdicts_grow_old_and_few_are_kept() {
        let cache = Cache::new(2, Duration::from_mins(1));
        let verdict = Verdict::new(Action::Block);
        cache.put(named("a"), verdict.clone());
        assert_eq!(cache.get(&named("a")), Some(verdict.clone()));
        assert_eq!(cache.get(&named("b")), None);
        cache.put(named("b"), verdict.clone());
        cache.put(named("c"), verdict.clone());
        assert_eq!(cache.get(&named("a")), None, "the oldest made room");
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(cache.get(&named("c")), None);
        cache.put(named("d"), verdict);
        assert_eq!(cache.kept.lock().unwrap().verdicts.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewed_verdict_outlives_its_first_entry() {
        let cache = Cache::new(2, Duration::from_mins(1));
        cache.put(named("a"), Verdict::default());
        tokio::time::advance(Duration::from_secs(50)).await;
        cache.put(named("a"), Verdict::new(Action::Flag));
        tokio::time::advance(Duration::from_secs(50)).await;
        cache.put(named("b"), Verdict::default());
        assert_eq!(cache.get(&named("a")), Some(Verdict::new(Action::Flag)));
    }

    #[test]
    fn everything_a_verdict_depends_on_is_in_the_key() {
        let origin = Origin {
            server: "s".into(),
            ..Origin::default()
        };
        let keys = [
            key("a", None, "b"),
            key("ab", None, ""),
            key("", None, "ab"),
            key("a", Some(&origin), "b"),
        ];
        for (index, one) in keys.iter().enumerate() {
            assert!(keys.iter().skip(index + 1).all(|other| other != one));
        }
    }
}
