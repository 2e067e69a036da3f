//! The signed statements of a store, gathered for a verifier: checkpoints of the table and of the log, and floors.
//!
//! Only genuine ones count; the first that is not is remembered as a break. Refuses to trust a key the store names itself.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::anchor::{holds_notes, read_notes};
use crate::chain::{Checkpoint, CheckpointKind, TrustedKeys, log_path, read_log};
use crate::digest::Digest;
use crate::id::Ulid;
use crate::proof::{Batch, LogHead, Note};
use crate::record::Head;
use crate::store::StoreError;
use crate::store::verification::{Break, BreakKind};

/// Everything signed, by chain.
#[derive(Debug, Default)]
pub(super) struct SignedStatements {
    /// What each chain's hash must be at a number.
    pub(super) heads: HashMap<Ulid, BTreeMap<u64, Digest>>,
    /// Up to where retention removed each chain.
    pub(super) floors: HashMap<Ulid, Head>,
    /// What each chain says it could not write.
    pub(super) lost: HashMap<Ulid, u64>,
    pub(super) checkpoints: u64,
    /// For each chain, by the number of a batch's first record: the number of its last one, and the root over their hashes.
    pub(super) batches: HashMap<Ulid, BTreeMap<u64, (u64, Digest)>>,
    /// Log heads that were kept outside the store.
    pub(super) published: Vec<LogHead>,
    pub(super) first_bad: Option<Break>,
}

impl SignedStatements {
    /// The checkpoints of the data directory's log, and of copies of it. Read them before the database, so that the database is
    /// never the older of the two. An operator may have moved the log away; a copy that was named has to be there.
    pub(super) fn add_logs(
        &mut self,
        dir: &Path,
        copies: &[PathBuf],
        trusted: &TrustedKeys,
    ) -> Result<(), StoreError> {
        let own = log_path(dir);
        if own.exists() {
            self.add_log(&own, trusted)?;
        }
        copies
            .iter()
            .try_for_each(|copy| self.add_copy(copy, trusted))
    }

    /// Something that was kept elsewhere: published log heads, or a copy of the log.
    fn add_copy(&mut self, path: &Path, trusted: &TrustedKeys) -> Result<(), StoreError> {
        if !holds_notes(path).map_err(StoreError::file(path))? {
            return self.add_log(path, trusted);
        }
        let read = read_notes(path, |note| self.add_published(note, trusted));
        read.map_err(StoreError::file(path))
    }

    fn add_log(&mut self, path: &Path, trusted: &TrustedKeys) -> Result<(), StoreError> {
        let read = read_log(path, |_line, checkpoint| match checkpoint {
            Some(checkpoint) => self.add(&checkpoint, trusted),
            None => self.bad(BreakKind::MalformedLog, None),
        });
        read.map_err(StoreError::file(path))
    }

    /// A published log head; `None` for text that is no signed note.
    fn add_published(&mut self, note: Option<Note>, trusted: &TrustedKeys) {
        let head = note.map(|note| LogHead::from_note(&note, trusted));
        match head {
            Some(Ok(head)) => self.published.push(head),
            Some(Err(_)) => self.bad(BreakKind::ForgedCheckpoint, None),
            None => self.bad(BreakKind::MalformedLog, None),
        }
    }

    /// A genuine batch: a leaf of the store's tree.
    pub(super) fn add_batch(&mut self, batch: &Batch) {
        self.add_head(batch.head());
        let batches = self.batches.entry(batch.chain_id).or_default();
        batches.insert(batch.first, (batch.n, batch.root));
    }

    /// Something that should be signed by a trusted key and is not.
    pub(super) fn add_forged(&mut self, head: Option<Head>) {
        self.bad(BreakKind::ForgedCheckpoint, head);
    }

    /// A row of the store's own tables; `None` if it is not a checkpoint at all.
    pub(super) fn add_stored(&mut self, checkpoint: Option<&Checkpoint>, trusted: &TrustedKeys) {
        match checkpoint {
            Some(checkpoint) => self.add(checkpoint, trusted),
            None => self.bad(BreakKind::ForgedCheckpoint, None),
        }
    }

    fn add(&mut self, checkpoint: &Checkpoint, trusted: &TrustedKeys) {
        if !checkpoint.is_genuine(trusted) {
            return self.bad(BreakKind::ForgedCheckpoint, Some(checkpoint.head));
        }
        let (chain, head) = (checkpoint.head.chain_id, checkpoint.head);
        let lost = self.lost.entry(chain).or_default();
        *lost = (*lost).max(checkpoint.lost);
        match checkpoint.kind {
            CheckpointKind::Head => self.checkpoints += u64::from(self.add_head(head)),
            CheckpointKind::Floor => {
                let floor = self.floors.entry(chain).or_insert(head);
                if head.n > floor.n {
                    *floor = head;
                }
            }
        }
    }

    /// Says whether this place was not signed for yet.
    fn add_head(&mut self, head: Head) -> bool {
        let heads = self.heads.entry(head.chain_id).or_default();
        let known = heads.insert(head.n, head.hash);
        // The same place signed twice with two hashes: the two statements contradict each other.
        if known.is_some_and(|other| other != head.hash) {
            self.bad(BreakKind::DiffersFromCheckpoint, Some(head));
        }
        known.is_none()
    }

    fn bad(&mut self, kind: BreakKind, head: Option<Head>) {
        let place = Break {
            chain_id: head.map(|h| h.chain_id),
            n: head.map(|h| h.n),
            ..Break::new(kind)
        };
        self.first_bad.get_or_insert(place);
    }

    /// The last record of this chain that its own checkpoints, or a floor, are signed for.
    pub(super) fn signed_up_to(&self, chain: Ulid) -> Option<u64> {
        let heads = self.heads.get(&chain);
        let head = heads.and_then(|heads| heads.keys().next_back().copied());
        head.max(self.floors.get(&chain).map(|floor| floor.n))
    }

    /// Is the record `n` of this chain accounted for by a floor?
    pub(super) fn removed(&self, chain: Ulid, n: u64) -> bool {
        self.floors.get(&chain).is_some_and(|floor| n <= floor.n)
    }
}
