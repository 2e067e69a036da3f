//! Keys: how an id, a request id or a parent leads to the records that have it.
//!
//! The index has a short hash of each, in runs that are sorted by it and that cover one stretch of the store each. Two texts may
//! have the same hash, so the record has the last word.

use rusqlite::{Connection, params};

use super::packed::{Key, LONGEST, damaged, unpack_keys};
use crate::id::Ulid;

/// What a key is the hash of.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeyKind {
    Id = 1,
    Request = 2,
    Parent = 3,
}

impl KeyKind {
    /// The hash as it is stored: it must not differ between versions without a new format of the index.
    pub(super) fn hash(self, bytes: &[u8]) -> u32 {
        let mut state = fold(self as u64 + ((bytes.len() as u64) << 8));
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            state = fold(state ^ u64::from_le_bytes(word));
        }
        u32::try_from(state >> 32).unwrap_or_default()
    }

    pub(super) fn key(self, bytes: &[u8], seq: u64) -> Key {
        let hash = self.hash(bytes);
        Key { hash, seq }
    }
}

fn fold(value: u64) -> u64 {
    let value = value ^ 0x9e37_79b9_7f4a_7c15;
    let wide = u128::from(value) * 0xa076_1d64_78bd_642f;
    value.rotate_left(29) ^ u64::try_from(wide >> 64).unwrap_or_default() ^ lower(wide)
}

fn lower(wide: u128) -> u64 {
    u64::try_from(wide & u128::from(u64::MAX)).unwrap_or_default()
}

/// The places of records that may have a key, newest first.
pub(super) struct Candidates<'c> {
    connection: &'c Connection,
    hash: u32,
    /// Runs without an id of this time, in milliseconds, are passed over.
    id_time: Option<u64>,
    /// The newest last.
    runs: Vec<Run>,
}

/// What is known of a run: the places in the last of its rows that has any.
struct Run {
    id: i64,
    /// The newest last.
    seqs: Vec<u64>,
    /// The row before it may have some, too.
    has_more: bool,
}

impl<'c> Candidates<'c> {
    pub(super) fn new(connection: &'c Connection, hash: u32) -> rusqlite::Result<Self> {
        Self::start(connection, hash, None)
    }

    /// Those that may have this id.
    pub(super) fn with_id(connection: &'c Connection, id: Ulid) -> rusqlite::Result<Self> {
        let hash = KeyKind::Id.hash(&id.to_bytes());
        Self::start(connection, hash, Some(id.timestamp().as_millis()))
    }

    fn start(
        connection: &'c Connection,
        hash: u32,
        id_time: Option<u64>,
    ) -> rusqlite::Result<Self> {
        let mut candidates = Self {
            connection,
            hash,
            id_time,
            runs: Vec::new(),
        };
        candidates.runs = candidates.look(i64::MIN, i64::MAX, i64::MAX as u64)?;
        Ok(candidates)
    }

    /// The newest place up to `bound`. What is after `bound` is not asked for again.
    pub(super) fn at_most(&mut self, bound: u64) -> rusqlite::Result<Option<u64>> {
        while let Some(run) = self.runs.last_mut() {
            while let Some(seq) = run.seqs.pop() {
                if seq <= bound {
                    return Ok(Some(seq));
                }
            }
            let (id, has_more) = (run.id, run.has_more);
            self.runs.pop();
            if has_more {
                let mut more = self.look(id, id, bound)?;
                self.runs.append(&mut more);
            }
        }
        Ok(None)
    }

    /// Looks into each of these runs for places up to `bound`, the newest of them. Runs without any are left out.
    fn look(&self, from: i64, to: i64, bound: u64) -> rusqlite::Result<Vec<Run>> {
        let sql = "SELECT r.id, (SELECT iif(length(k.keys) <= ?5, k.keys, x'ff') FROM ix.key k
                       WHERE k.run = r.id AND (k.hash, k.seq) <= (?3, ?4) ORDER BY k.hash DESC, k.seq DESC LIMIT 1)
                   FROM ix.run r WHERE r.id BETWEEN ?1 AND ?2 AND (?6 IS NULL OR ?6 BETWEEN r.oldest_id AND r.newest_id)
                   ORDER BY r.id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows =
            statement.query(params![from, to, self.hash, bound, LONGEST, self.id_time])?;
        let mut runs = Vec::new();
        while let Some(row) = rows.next()? {
            let (mut seqs, mut first) = (Vec::new(), None);
            // Nothing if all keys of the run come after this one; a byte that is no key if there is too much.
            let keys = row.get_ref(1)?.as_blob_or_null().map_err(|_| damaged())?;
            unpack_keys(keys.unwrap_or_default(), |key| {
                first.get_or_insert(key.hash);
                if key.hash == self.hash && key.seq <= bound {
                    seqs.push(key.seq);
                }
                (key.hash, key.seq) <= (self.hash, bound)
            })?;
            if !seqs.is_empty() {
                let (id, has_more) = (row.get(0)?, first == Some(self.hash));
                runs.push(Run { id, seqs, has_more });
            }
        }
        Ok(runs)
    }
}
