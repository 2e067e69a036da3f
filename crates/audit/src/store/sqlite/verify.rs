//! `verify`: walks every record once, in the order of the store, and names the first that does not hold.
//!
//! Each chain's numbers, hashes, first record and link are checked on the way, its checkpoints as they are passed, and what was
//! signed for but is gone at the end. One read snapshot, memory for the chains and checkpoints only. Changes nothing.

use std::collections::HashMap;

use rusqlite::Connection;

use super::derived::Derived;
use super::files::Files;
use super::signed::Signed;
use crate::chain::TrustedKeys;
use crate::digest::Digest;
use crate::id::Ulid;
use crate::record::body::decode;
use crate::record::{Head, Record};
use crate::store::StoreError;
use crate::store::verification::{Break, BreakKind, Verification};

/// Walks the whole store.
pub(super) fn verify(
    connection: &Connection,
    files: &Files,
    trusted: &TrustedKeys,
) -> Result<Verification, StoreError> {
    let mut signed = Signed::default();
    signed.add_log(&files.data_dir, trusted)?;
    let snapshot = connection
        .unchecked_transaction()
        .map_err(StoreError::Read)?;
    let mut derived = Derived::new(&snapshot).map_err(StoreError::Read)?;
    signed
        .add_tables(&snapshot, trusted)
        .map_err(StoreError::Read)?;
    let mut walk = Walk::new(signed);
    let broken = match walk.records(&snapshot, &mut derived) {
        Ok(broken) => broken,
        // A page that cannot be read is a break, not a failure to verify.
        Err(_) => Some(walk.unreadable()),
    };
    Ok(walk.finish(broken))
}

struct Walk {
    signed: Signed,
    chains: HashMap<i64, Ulid>,
    heads: HashMap<Ulid, Reached>,
    /// The row before this one, whatever its chain.
    before: Option<Head>,
    last_seq: u64,
    records: u64,
}

/// How far a chain has been walked.
struct Reached {
    n: u64,
    hash: Digest,
}

/// One row of the append table.
struct Row<'a> {
    seq: u64,
    chain: i64,
    n: u64,
    body: &'a [u8],
    hash: Option<Digest>,
}

impl Walk {
    fn new(signed: Signed) -> Self {
        Self {
            signed,
            chains: HashMap::new(),
            heads: HashMap::new(),
            before: None,
            last_seq: 0,
            records: 0,
        }
    }

    fn records(
        &mut self,
        connection: &Connection,
        derived: &mut Derived<'_>,
    ) -> rusqlite::Result<Option<Break>> {
        self.chains = known_chains(connection)?;
        let mut statement =
            connection.prepare("SELECT seq, chain, n, body, hash FROM activity ORDER BY seq")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let row = Row {
                seq: row.get(0)?,
                chain: row.get(1)?,
                n: row.get(2)?,
                body: row.get_ref(3)?.as_bytes().unwrap_or_default(),
                hash: row.get_ref(4)?.as_bytes().ok().and_then(Digest::from_slice),
            };
            let record = match self.row(&row) {
                Ok(record) => record,
                Err(broken) => return Ok(Some(broken)),
            };
            if !derived.agrees(row.seq, &record)? {
                let chain_id = self.chains.get(&row.chain).copied();
                return Ok(Some(Break {
                    kind: BreakKind::WrongIndex,
                    seq: Some(row.seq),
                    chain_id,
                    n: Some(row.n),
                    id: Some(record.id()),
                }));
            }
        }
        Ok(None)
    }

    fn row(&mut self, row: &Row<'_>) -> Result<Record, Break> {
        let record = decode(row.body);
        let id = record.as_ref().ok().map(Record::id);
        let chain_id = self.chains.get(&row.chain).copied();
        let broken = |kind| Break {
            kind,
            seq: Some(row.seq),
            chain_id,
            n: Some(row.n),
            id,
        };
        let chain_id = chain_id.ok_or_else(|| broken(BreakKind::UnknownChain))?;
        let prev = self.expected_before(chain_id, row.n).map_err(broken)?;
        let hash = row
            .hash
            .filter(|hash| Digest::chained(&prev, row.body) == *hash)
            .ok_or_else(|| broken(BreakKind::Changed))?;
        let record = record.map_err(|_| broken(BreakKind::Undecodable))?;
        let head = Head {
            chain_id,
            n: row.n,
            hash,
        };
        self.opening(&head, &record).map_err(broken)?;
        let signed = self
            .signed
            .heads
            .get(&chain_id)
            .and_then(|heads| heads.get(&row.n));
        if signed.is_some_and(|signed| *signed != hash) {
            return Err(broken(BreakKind::DiffersFromCheckpoint));
        }
        self.heads.insert(chain_id, Reached { n: row.n, hash });
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
            (None, 0) => Ok(Digest::NONE),
            (None, n) => match self.signed.floors.get(&chain) {
                Some(floor) if floor.n + 1 == n => Ok(floor.hash),
                _ => Err(BreakKind::NoBeginning),
            },
        }
    }

    /// A chain's first record opens this chain and names the record before it, or one that retention removed.
    fn opening(&self, head: &Head, record: &Record) -> Result<(), BreakKind> {
        let opening = match (head.n, record.chain_opening()) {
            (0, Some(opening)) if opening.chain_id == head.chain_id => opening,
            (0, _) | (_, Some(_)) => return Err(BreakKind::WrongOpening),
            (_, None) => return Ok(()),
        };
        let holds = match opening.previous {
            None => self.before.is_none(),
            Some(previous) if self.before == Some(previous) => true,
            Some(previous) => {
                let floor = self.signed.floors.get(&previous.chain_id);
                floor.is_some_and(|f| previous.n < f.n || *f == previous)
            }
        };
        if holds {
            Ok(())
        } else {
            Err(BreakKind::MissingPredecessor)
        }
    }

    fn unreadable(&self) -> Break {
        Break {
            kind: BreakKind::Unreadable,
            seq: Some(self.last_seq + 1),
            chain_id: None,
            n: None,
            id: None,
        }
    }

    fn finish(mut self, broken: Option<Break>) -> Verification {
        let broken = broken
            .or_else(|| self.signed.first_bad.take())
            .or_else(|| self.missing_tail());
        let mut chains: std::collections::HashSet<&Ulid> = self.heads.keys().collect();
        chains.extend(self.signed.floors.keys());
        let after = |(chain, reached): (&Ulid, &Reached)| {
            let signed = self
                .signed
                .heads
                .get(chain)
                .and_then(|heads| heads.keys().next_back());
            signed.map_or(reached.n + 1, |n| reached.n.saturating_sub(*n))
        };
        Verification {
            records: self.records,
            chains: chains.len() as u64,
            checkpoints: self.signed.checkpoints,
            after_last_checkpoint: self.heads.iter().map(after).sum(),
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
            kind: BreakKind::MissingTail,
            seq: None,
            chain_id: Some(chain),
            n: Some(n),
            id: None,
        })
    }
}

fn known_chains(connection: &Connection) -> rusqlite::Result<HashMap<i64, Ulid>> {
    let mut statement = connection.prepare("SELECT id, chain_id FROM chain")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let mut chains = HashMap::new();
    for row in rows {
        let (id, text) = row?;
        if let Ok(chain_id) = text.parse() {
            chains.insert(id, chain_id);
        }
    }
    Ok(chains)
}
