//! `Walk`: takes the records of a store one by one and checks each against its chain. The part of `verify` that is the
//! same for every database.
//!
//! Numbers, hashes, first records and links are checked on the way, checkpoints as they are passed. Memory is for the
//! chains and the checkpoints only.

use std::collections::HashMap;

use super::signed_statements::SignedStatements;
use super::verification::{Break, BreakKind, Verification};
use crate::digest::{Digest, NO_HASH, chain_hash};
use crate::id::Ulid;
use crate::proof::merkle::Frontier;
use crate::record::body::decode;
use crate::record::{Head, Kind, Opening, Record};
use crate::time::Timestamp;

mod coverage;

/// What is known of the chains walked so far.
#[derive(Default)]
pub(super) struct Walk {
    signed: SignedStatements,
    heads: HashMap<Ulid, ChainProgress>,
    /// The row before this one, whatever its chain.
    before: Option<Head>,
    last_seq: u64,
    records: u64,
    /// When the first record was written that names the heads of all chains before it.
    heads_named_at: Option<Timestamp>,
    /// Chains are walked one after the other, so heads that first records name may not have been met yet.
    is_interleaved: bool,
    named: Vec<NamedHead>,
}

/// A head that the first record of another chain names, and what is broken if it is not there.
pub(super) struct NamedHead {
    pub(super) head: Head,
    pub(super) broken: Break,
}

/// How far a chain has been walked.
struct ChainProgress {
    n: u64,
    hash: Digest,
    /// Fewer records than this are ever left without a checkpoint.
    checkpoint_records: u64,
    /// Begun by a version whose starts named no heads.
    is_older: bool,
    /// It ended in good order.
    has_stopped: bool,
    /// The last record that a later chain's first record names.
    named: Option<u64>,
    /// The batch under way: the number of its last record, its signed root, and the records so far.
    batch: Option<(u64, Digest, Frontier)>,
}

/// One stored record, as it is.
pub(super) struct ChainRow<'a> {
    pub(super) seq: u64,
    /// `None`: the store does not know the chain.
    pub(super) chain_id: Option<Ulid>,
    pub(super) n: u64,
    pub(super) body: &'a [u8],
    pub(super) hash: Option<Digest>,
}

impl Walk {
    /// Rows come in the order of the store: a chain's first record names the record right before it.
    pub(super) fn in_order(signed: SignedStatements) -> Self {
        Self {
            signed,
            ..Self::default()
        }
    }

    /// Rows come chain by chain: see [`Walk::take_named`].
    pub(super) fn interleaved(signed: SignedStatements) -> Self {
        Self {
            is_interleaved: true,
            ..Self::in_order(signed)
        }
    }

    pub(super) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Whether retention has removed records.
    pub(super) fn has_floors(&self) -> bool {
        !self.signed.floors.is_empty()
    }

    /// Is the record `n` of this chain accounted for by a floor?
    pub(super) fn is_removed(&self, chain: Ulid, n: u64) -> bool {
        self.signed.removed(chain, n)
    }

    /// The heads that first records named, for the caller to look up. Empty unless the walk is interleaved.
    pub(super) fn take_named(&mut self) -> Vec<NamedHead> {
        std::mem::take(&mut self.named)
    }

    /// Checks the next record and takes it in.
    pub(super) fn row(&mut self, row: &ChainRow<'_>) -> Result<Record, Box<Break>> {
        let record = decode(row.body);
        let id = record.as_ref().ok().map(Record::id);
        let chain_id = row.chain_id;
        let broken = |kind| {
            Box::new(Break {
                seq: Some(row.seq),
                chain_id,
                n: Some(row.n),
                id,
                ..Break::new(kind)
            })
        };
        let chain_id = chain_id.ok_or_else(|| broken(BreakKind::UnknownChain))?;
        let prev = self.expected_before(chain_id, row.n).map_err(broken)?;
        let hash = row
            .hash
            .filter(|hash| chain_hash(&prev, row.body) == *hash)
            .ok_or_else(|| broken(BreakKind::Changed))?;
        let record = record.map_err(|_| broken(BreakKind::Undecodable))?;
        let head = Head {
            chain_id,
            n: row.n,
            hash,
        };
        self.opening(&head, &record, row.seq).map_err(broken)?;
        let signed = self
            .signed
            .heads
            .get(&chain_id)
            .and_then(|heads| heads.get(&row.n));
        if signed.is_some_and(|signed| *signed != hash) {
            return Err(broken(BreakKind::DiffersFromCheckpoint));
        }
        self.reach(&head, &record);
        self.take_into_batch(&head).map_err(broken)?;
        self.before = Some(head);
        self.last_seq = row.seq;
        self.records += 1;
        Ok(record)
    }

    /// The hash this record must build on.
    fn expected_before(&self, chain: Ulid, n: u64) -> Result<Digest, BreakKind> {
        match (self.heads.get(&chain), n) {
            (Some(reached), n) if reached.n + 1 == n => Ok(reached.hash),
            (Some(_), _) => Err(BreakKind::OutOfOrder),
            (None, 0) => Ok(NO_HASH),
            (None, n) => match self.signed.floors.get(&chain) {
                Some(floor) if floor.n + 1 == n => Ok(floor.hash),
                _ => Err(BreakKind::NoBeginning),
            },
        }
    }

    /// A chain's first record opens this chain and names the record before it, or one that retention removed.
    fn opening(&mut self, head: &Head, record: &Record, seq: u64) -> Result<(), BreakKind> {
        let opening = match (head.n, record.chain_opening()) {
            (0, Some(opening)) if opening.chain_id == head.chain_id => opening,
            (0, _) | (_, Some(_)) => return Err(BreakKind::WrongOpening),
            (_, None) => return Ok(()),
        };
        if self.is_interleaved {
            self.defer(opening, head, record, seq);
            return Ok(());
        }
        let holds = match opening.previous {
            None => self.before.is_none(),
            Some(previous) if self.before == Some(previous) => true,
            Some(previous) => {
                let floor = self.signed.floors.get(&previous.chain_id);
                floor.is_some_and(|f| previous.n < f.n || *f == previous)
            }
        };
        let mut named = opening.heads.iter().flatten();
        if holds && named.all(|head| self.is_head_now(head)) {
            Ok(())
        } else {
            Err(BreakKind::MissingPredecessor)
        }
    }

    fn defer(&mut self, opening: &Opening, head: &Head, record: &Record, seq: u64) {
        let named = opening.heads.iter().flatten().chain(&opening.previous);
        self.named.extend(named.map(|named| NamedHead {
            head: *named,
            broken: Break {
                seq: Some(seq),
                chain_id: Some(head.chain_id),
                n: Some(head.n),
                id: Some(record.id()),
                ..Break::new(BreakKind::MissingPredecessor)
            },
        }));
    }
}
