//! `verify`: walks every record once, in the order of the store, and names the first that does not hold.
//!
//! Each chain's numbers, hashes, first record and links are checked on the way, its checkpoints as they are passed; at the end
//! what was signed for but is gone, what must have been signed for and is not, the roll-ups and the catalogue. One read
//! snapshot, memory for the chains, checkpoints and roll-ups only. Changes nothing.

use std::collections::HashMap;
use std::path::PathBuf;

use rusqlite::Connection;

use super::derived::Derived;
use super::files::Files;
use super::signed::Signed;
use crate::chain::TrustedKeys;
use crate::digest::{Digest, NO_HASH, chain_hash};
use crate::id::Ulid;
use crate::record::body::decode;
use crate::record::{Head, Kind, Opening, Record};
use crate::store::StoreError;
use crate::store::verification::{Break, BreakKind, Verification};
use crate::time::Timestamp;

mod copies;
mod coverage;
#[cfg(test)]
mod tests;

/// Walks the whole store.
pub(crate) fn verify(
    connection: &Connection,
    files: &Files,
    trusted: &TrustedKeys,
    anchors: &[PathBuf],
) -> Result<Verification, StoreError> {
    let mut signed = Signed::default();
    signed.add_logs(&files.data_dir, anchors, trusted)?;
    let snapshot = connection
        .unchecked_transaction()
        .map_err(StoreError::Read)?;
    let mut derived = Derived::new(&snapshot).map_err(StoreError::Read)?;
    signed
        .add_tables(&snapshot, trusted)
        .map_err(StoreError::Read)?;
    let mut walk = Walk {
        signed,
        ..Walk::default()
    };
    let broken = match walk.records(&snapshot, &mut derived) {
        Ok(broken) => broken.or_else(|| walk.signature_break()),
        // A page that cannot be read is a break, not a failure to verify.
        Err(_) => Some(Break {
            seq: Some(walk.last_seq + 1),
            ..Break::new(BreakKind::Unreadable)
        }),
    };
    let broken = match broken {
        None => walk.working_copies(&snapshot, &mut derived)?,
        broken => broken,
    };
    Ok(walk.finish(broken))
}

#[derive(Default)]
struct Walk {
    signed: Signed,
    chains: HashMap<i64, Ulid>,
    heads: HashMap<Ulid, Reached>,
    /// The row before this one, whatever its chain.
    before: Option<Head>,
    last_seq: u64,
    records: u64,
    /// When the first record was written that names the heads of all chains before it.
    heads_named_at: Option<Timestamp>,
}

/// How far a chain has been walked.
struct Reached {
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
                Err(broken) => return Ok(Some(*broken)),
            };
            derived.add(row.seq, &record)?;
        }
        Ok(None)
    }

    fn row(&mut self, row: &Row<'_>) -> Result<Record, Box<Break>> {
        let record = decode(row.body);
        let id = record.as_ref().ok().map(Record::id);
        let chain_id = self.chains.get(&row.chain).copied();
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
        self.opening(&head, &record).map_err(broken)?;
        let signed = self
            .signed
            .heads
            .get(&chain_id)
            .and_then(|heads| heads.get(&row.n));
        if signed.is_some_and(|signed| *signed != hash) {
            return Err(broken(BreakKind::DiffersFromCheckpoint));
        }
        self.reach(&head, &record);
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
        let mut named = opening.heads.iter().flatten();
        if holds && named.all(|head| self.is_head_now(head)) {
            Ok(())
        } else {
            Err(BreakKind::MissingPredecessor)
        }
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
