//! What the signatures of a store cover: how far each chain is signed for, by whom, and what must have been signed for and is
//! not. Part of `verify`.
//!
//! A chain's beginning is signed in the transaction that writes it, and so is its stop; in between a checkpoint comes with the
//! transaction that makes it due. So a chain without any signed head, or with more behind it than that allows, is one whose
//! checkpoints were removed. The first record of a later chain names the heads it found and is signed itself: it covers what a
//! process that died could not sign for.

use std::collections::HashSet;

use crate::proof::merkle::{Frontier, leaf_hash};

use super::{
    Break, BreakKind, ChainProgress, Head, Kind, Opening, Record, Ulid, Verification, Walk,
};

/// What versions signed by that did not write it into the first record of a chain.
const CHECKPOINT_RECORDS: u64 = 1000;

impl Walk {
    /// Takes a record into what is known of its chain.
    pub(super) fn reach(&mut self, head: &Head, record: &Record) {
        let reached = self.heads.entry(head.chain_id).or_insert(ChainProgress {
            n: head.n,
            hash: head.hash,
            checkpoint_records: CHECKPOINT_RECORDS,
            is_older: false,
            has_stopped: false,
            named: None,
            batch: None,
        });
        (reached.n, reached.hash) = (head.n, head.hash);
        reached.has_stopped = record.kind() == Kind::SystemStop;
        if let Some(opening) = record.chain_opening() {
            reached.is_older = opening.heads.is_none();
            let stated = opening.checkpoint_records;
            reached.checkpoint_records = stated.unwrap_or(CHECKPOINT_RECORDS);
            self.name_heads(opening, record);
        }
    }

    /// Compares the records of a batch with the root that was signed for them, once they are all there.
    pub(super) fn take_into_batch(&mut self, head: &Head) -> Result<(), BreakKind> {
        let Some(reached) = self.heads.get_mut(&head.chain_id) else {
            return Ok(());
        };
        let batches = self.signed.batches.get(&head.chain_id);
        if let Some((last, root)) = batches.and_then(|batches| batches.get(&head.n)) {
            reached.batch = Some((*last, *root, Frontier::default()));
        }
        let Some((last, root, records)) = &mut reached.batch else {
            return Ok(());
        };
        records.push(leaf_hash(head.hash.as_bytes()));
        if head.n < *last {
            return Ok(());
        }
        let holds = records.root() == *root;
        reached.batch = None;
        if holds {
            Ok(())
        } else {
            Err(BreakKind::DiffersFromBatch)
        }
    }

    fn name_heads(&mut self, opening: &Opening, record: &Record) {
        if opening.heads.is_some() {
            self.heads_named_at.get_or_insert(record.timestamp);
        }
        if !self.is_interleaved {
            let named = opening.heads.iter().flatten().chain(&opening.previous);
            named.for_each(|head| self.note_named(head));
        }
    }

    /// Notes that a signed record names this head, so that it signs for everything up to it.
    pub(in crate::store) fn note_named(&mut self, head: &Head) {
        if let Some(reached) = self.heads.get_mut(&head.chain_id) {
            reached.named = reached.named.max(Some(head.n));
        }
    }

    /// Is this the last record of its chain so far, or has retention removed it?
    pub(super) fn is_head_now(&self, head: &Head) -> bool {
        let reached = self.heads.get(&head.chain_id);
        self.signed.removed(head.chain_id, head.n)
            || reached.is_some_and(|reached| (reached.n, reached.hash) == (head.n, head.hash))
    }

    /// What is wrong with the signatures: one is forged, one is missing, or what one was signed for is.
    pub(in crate::store) fn signature_break(&self) -> Option<Break> {
        let forged = self.signed.first_bad.clone();
        forged
            .or_else(|| self.first_unsigned())
            .or_else(|| self.missing_tail())
    }

    /// The earliest chain that cannot have been left as it is: nothing signs for it, or for more of its end than a process that
    /// dies leaves.
    fn first_unsigned(&self) -> Option<Break> {
        let mut chains: Vec<_> = self.heads.iter().collect();
        chains.sort_unstable_by_key(|(chain, _)| **chain);
        chains.into_iter().find_map(|(chain, reached)| {
            let kind = match self.signed.signed_up_to(*chain) {
                None => BreakKind::Unsigned,
                Some(signed) if reached.is_left_unsigned_after(signed) => {
                    BreakKind::MissingCheckpoint
                }
                Some(_) => return None,
            };
            Some(Break {
                chain_id: Some(*chain),
                n: Some(reached.n),
                ..Break::new(kind)
            })
        })
    }

    /// `log_size` and `published_heads` are the tree's part of the report.
    pub(in crate::store) fn finish(
        self,
        broken: Option<Break>,
        (log_size, published_heads): (u64, u64),
    ) -> Verification {
        let mut chains: HashSet<&Ulid> = self.heads.keys().collect();
        chains.extend(self.signed.floors.keys());
        let (mut unsigned, mut later) = (0, 0);
        for (chain, reached) in &self.heads {
            let own = self.signed.signed_up_to(*chain);
            let all = own.max(reached.named);
            unsigned += count_after(reached.n, all);
            later += all.map_or(0, |all| count_after(all, own));
        }
        let older = self.heads.values().filter(|reached| reached.is_older);
        let older = older.count() as u64;
        Verification {
            records: self.records,
            chains: chains.len() as u64,
            checkpoints: self.signed.checkpoints,
            log_size,
            published_heads,
            after_last_checkpoint: unsigned,
            signed_by_later_start: later,
            older_chains: older,
            older_signed_since: self.heads_named_at.filter(|_| older > 0),
            lost: self.signed.lost.values().sum(),
            first_break: broken,
        }
    }

    /// The earliest chain of which something signed for is gone.
    fn missing_tail(&self) -> Option<Break> {
        let missing = self.signed.heads.iter().filter_map(|(chain, heads)| {
            let reached = self.heads.get(chain).map(|r| r.n);
            let gone = |n: &u64| {
                reached.is_none_or(|reached| *n > reached) && !self.signed.removed(*chain, *n)
            };
            heads.keys().copied().find(gone).map(|n| (*chain, n))
        });
        let (chain, n) = missing.min()?;
        Some(Break {
            chain_id: Some(chain),
            n: Some(n),
            ..Break::new(BreakKind::MissingTail)
        })
    }
}

impl ChainProgress {
    /// Does more follow `signed` than a process ever leaves without a checkpoint?
    fn is_left_unsigned_after(&self, signed: u64) -> bool {
        let unsigned = self.n.saturating_sub(signed);
        unsigned >= self.checkpoint_records.max(1) || self.has_stopped && unsigned > 0
    }
}

/// How many records up to `n` come after `signed`.
fn count_after(n: u64, signed: Option<u64>) -> u64 {
    signed.map_or(n + 1, |signed| n.saturating_sub(signed))
}
