//! The signed statements of a store, gathered for a verifier: checkpoints of the table and of the log, and floors.
//!
//! Only genuine ones count; the first that is not is remembered as a break. Refuses to trust a key the store names itself.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use rusqlite::{Connection, Row};

use crate::chain::{Checkpoint, CheckpointKind, TrustedKeys, read_log};
use crate::digest::Digest;
use crate::id::Ulid;
use crate::record::Head;
use crate::store::StoreError;
use crate::store::verification::{Break, BreakKind};
use crate::time::Timestamp;

/// Everything signed, by chain.
#[derive(Debug, Default)]
pub(super) struct Signed {
    /// What each chain's hash must be at a number.
    pub(super) heads: HashMap<Ulid, BTreeMap<u64, Digest>>,
    /// Up to where retention removed each chain.
    pub(super) floors: HashMap<Ulid, Head>,
    /// What each chain says it could not write.
    pub(super) lost: HashMap<Ulid, u64>,
    pub(super) checkpoints: u64,
    pub(super) first_bad: Option<Break>,
}

impl Signed {
    /// The checkpoints of the log. Read it before the database, so that the database is never the older of the two.
    pub(super) fn add_log(&mut self, dir: &Path, trusted: &TrustedKeys) -> Result<(), StoreError> {
        let read = read_log(dir, |_line, checkpoint| match checkpoint {
            Some(checkpoint) => self.add(&checkpoint, trusted),
            None => self.bad(BreakKind::MalformedLog, None),
        });
        read.map_err(|source| StoreError::File {
            path: dir.join("checkpoints.log"),
            source,
        })
    }

    pub(super) fn add_tables(
        &mut self,
        connection: &Connection,
        trusted: &TrustedKeys,
    ) -> rusqlite::Result<()> {
        for (table, kind) in [
            ("checkpoint", CheckpointKind::Head),
            ("floor", CheckpointKind::Floor),
        ] {
            let sql = format!(
                "SELECT ifnull(c.chain_id, ''), t.n, t.hash, t.at, t.lost, t.key, t.signature FROM {table} t LEFT JOIN chain c ON c.id = t.chain"
            );
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                match checkpoint(row, kind)? {
                    Some(checkpoint) => self.add(&checkpoint, trusted),
                    None => self.bad(BreakKind::ForgedCheckpoint, None),
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, checkpoint: &Checkpoint, trusted: &TrustedKeys) {
        if !checkpoint.is_genuine(trusted) {
            return self.bad(BreakKind::ForgedCheckpoint, Some(checkpoint.head));
        }
        let (chain, head) = (checkpoint.chain_id(), checkpoint.head);
        let lost = self.lost.entry(chain).or_default();
        *lost = (*lost).max(checkpoint.lost);
        match checkpoint.kind {
            CheckpointKind::Head => {
                let known = self
                    .heads
                    .entry(chain)
                    .or_default()
                    .insert(head.n, head.hash);
                match known {
                    // The same place signed twice with two hashes: one of them was not ours to sign.
                    Some(other) if other != head.hash => {
                        self.bad(BreakKind::DiffersFromCheckpoint, Some(head));
                    }
                    Some(_) => {}
                    None => self.checkpoints += 1,
                }
            }
            CheckpointKind::Floor => {
                let floor = self.floors.entry(chain).or_insert(head);
                if head.n > floor.n {
                    *floor = head;
                }
            }
        }
    }

    fn bad(&mut self, kind: BreakKind, head: Option<Head>) {
        let place = Break {
            kind,
            seq: None,
            chain_id: head.map(|h| h.chain_id),
            n: head.map(|h| h.n),
            id: None,
        };
        self.first_bad.get_or_insert(place);
    }

    /// Is the record `n` of this chain accounted for by a floor?
    pub(super) fn removed(&self, chain: Ulid, n: u64) -> bool {
        self.floors.get(&chain).is_some_and(|floor| n <= floor.n)
    }
}

pub(super) fn checkpoint(
    row: &Row<'_>,
    kind: CheckpointKind,
) -> rusqlite::Result<Option<Checkpoint>> {
    let (chain, hash): (String, Vec<u8>) = (row.get(0)?, row.get(2)?);
    let (Ok(chain_id), Some(hash)) = (chain.parse(), Digest::from_slice(&hash)) else {
        return Ok(None);
    };
    let head = Head {
        chain_id,
        n: row.get(1)?,
        hash,
    };
    let at = Timestamp::from_millis(row.get(3)?);
    Ok(Some(Checkpoint {
        kind,
        head,
        at,
        lost: row.get(4)?,
        key: row.get(5)?,
        signature: row.get(6)?,
    }))
}
