//! `verify` on PostgreSQL: walks chain by chain, each in the order of its numbers, in one snapshot.
//!
//! Chains of several processes interleave, so the first record of a chain may name any record of another chain that is
//! there, or that a signed floor accounts for. Everything that is derived from the bodies is recomputed and compared:
//! columns, terms, roll-ups, the catalogue.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use tokio_postgres::Row;

use super::batch::terms;
use super::catalogue;
use super::connection::Connection;
use super::error::PostgresError;
use super::rollup::Sums;
use super::tree::PostgresTree;
use super::value::{Uuid, digest, signed, small, storable, unsigned};
use crate::chain::{Checkpoint, CheckpointKind, TrustedKeys};
use crate::id::Ulid;
use crate::record::indexed_fields::IndexedFields;
use crate::record::{Head, Record};
use crate::store::StoreError;
use crate::store::signed_statements::SignedStatements;
use crate::store::tree::TreeCheck;
use crate::store::verification::{Break, BreakKind, Verification};
use crate::store::walk::{ChainRow, Walk};
use crate::time::Timestamp;

const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Records of a chain read at a time.
const STEP: i64 = 2000;

/// Walks the whole store.
pub(super) fn verify(
    connection: &mut Connection,
    data_dir: &Path,
    trusted: &TrustedKeys,
    anchors: &[PathBuf],
) -> Result<Verification, StoreError> {
    let mut signed = SignedStatements::default();
    // Before the database, so that the database is never the older of the two.
    signed.add_logs(data_dir, anchors, trusted)?;
    connection.transaction(SNAPSHOT, |connection| {
        read_signed(connection, &mut signed, trusted).map_err(StoreError::postgres)?;
        let published = signed.published.len() as u64;
        let tree = TreeCheck::run(&mut PostgresTree(connection), trusted, &mut signed);
        let tree = tree.map_err(StoreError::postgres)?;
        let mut walk = Walk::interleaved(std::mem::take(&mut signed));
        let mut derived = Derived::new(connection).map_err(StoreError::postgres)?;
        let broken = find_break(connection, &mut walk, &mut derived);
        let broken = broken.map_err(StoreError::postgres)?;
        let broken = broken.or_else(|| tree.first_break());
        Ok(walk.finish(broken, (tree.size(), published)))
    })
}

fn find_break(
    connection: &mut Connection,
    walk: &mut Walk,
    derived: &mut Derived,
) -> Result<Option<Break>, PostgresError> {
    let sql = "SELECT id, chain_id FROM chain ORDER BY chain_id";
    let chains: Vec<(i32, String)> = connection
        .query(sql, &[])?
        .iter()
        .map(|row| (row.get(0), row.get(1)))
        .collect();
    for (chain, text) in &chains {
        let broken = walk_chain(connection, walk, derived, (*chain, text.parse().ok()))?;
        if broken.is_some() {
            return Ok(broken);
        }
    }
    let unknown = "SELECT seq, chain, n FROM activity a WHERE NOT EXISTS (SELECT FROM chain c WHERE c.id = a.chain) LIMIT 1";
    if let Some(row) = connection.first(unknown, &[])? {
        return Ok(Some(Break {
            seq: Some(unsigned(row.get(0))),
            n: Some(unsigned(row.get(2))),
            ..Break::new(BreakKind::UnknownChain)
        }));
    }
    if let Some(broken) = missing_predecessor(connection, walk)? {
        return Ok(Some(broken));
    }
    match walk.signature_break() {
        None => derived.first_wrong(connection, walk.has_floors()),
        broken => Ok(broken),
    }
}

fn walk_chain(
    connection: &mut Connection,
    walk: &mut Walk,
    derived: &mut Derived,
    (chain, chain_id): (i32, Option<Ulid>),
) -> Result<Option<Break>, PostgresError> {
    let sql = "SELECT seq, n, body, hash, id, at, kind, status, decision, server, tool, client, request_id, parent, day
               FROM activity WHERE chain = $1 AND n > $2 ORDER BY n LIMIT $3";
    let (mut last, mut broken) = (-1_i64, None);
    loop {
        let mut rows = 0;
        connection.for_each(sql, &[&chain, &last.clone(), &STEP], |row| {
            rows += 1;
            last = row.get(1);
            broken = check_row(walk, derived, chain_id, row).err();
            Ok(broken.is_none())
        })?;
        if broken.is_some() || rows < STEP {
            return Ok(broken.map(|broken| *broken));
        }
    }
}

fn check_row(
    walk: &mut Walk,
    derived: &mut Derived,
    chain_id: Option<Ulid>,
    row: &Row,
) -> Result<(), Box<Break>> {
    let seq = unsigned(row.get(0));
    let record = walk.row(&ChainRow {
        seq,
        chain_id,
        n: unsigned(row.get(1)),
        body: row.get(2),
        hash: digest(row, 3),
    })?;
    let fields = IndexedFields::from(&record);
    derived.add(seq, row.get(14), &fields);
    if has_columns_of(row, &fields) {
        return Ok(());
    }
    Err(Box::new(wrong_index(seq, chain_id, row, &record)))
}

fn wrong_index(seq: u64, chain_id: Option<Ulid>, row: &Row, record: &Record) -> Break {
    Break {
        seq: Some(seq),
        chain_id,
        n: Some(unsigned(row.get(1))),
        id: Some(record.id()),
        ..Break::new(BreakKind::WrongIndex)
    }
}

/// Do the columns say what the body says?
fn has_columns_of(row: &Row, fields: &IndexedFields<'_>) -> bool {
    let texts = [fields.server, fields.tool, fields.client, fields.request_id];
    let has_texts = texts.into_iter().zip(9..).all(|(text, column)| {
        let stored: Option<&str> = row.get(column);
        stored == text.map(storable).as_deref()
    });
    has_texts
        && row.get::<_, Uuid>(4) == Uuid(fields.id)
        && row.get::<_, i64>(5) == signed(fields.timestamp.as_millis())
        && row.get::<_, i16>(6) == small(fields.kind.code())
        && row.get::<_, i16>(7) == small(fields.status.code())
        && row.get::<_, Option<i16>>(8) == fields.decision_code().map(small)
        && row.get::<_, Option<Uuid>>(13) == fields.parent_id.map(Uuid)
}

/// The first record of a chain that names a record which is neither there nor accounted for.
fn missing_predecessor(
    connection: &mut Connection,
    walk: &mut Walk,
) -> Result<Option<Break>, PostgresError> {
    let sql = "SELECT a.hash FROM activity a JOIN chain c ON c.id = a.chain WHERE c.chain_id = $1 AND a.n = $2";
    for named in walk.take_named() {
        let Head { chain_id, n, hash } = named.head;
        if walk.is_removed(chain_id, n) {
            continue;
        }
        let row = connection.first(sql, &[&chain_id.to_string(), &signed(n)])?;
        if row.and_then(|row| digest(&row, 0)) != Some(hash) {
            return Ok(Some(named.broken));
        }
        walk.note_named(&named.head);
    }
    Ok(None)
}

fn read_signed(
    connection: &mut Connection,
    signed: &mut SignedStatements,
    trusted: &TrustedKeys,
) -> Result<(), PostgresError> {
    for (table, kind) in [
        ("checkpoint", CheckpointKind::Head),
        ("floor", CheckpointKind::Floor),
    ] {
        let sql = format!(
            "SELECT coalesce(c.chain_id, ''), t.n, t.hash, t.at, t.lost, t.key, t.signature FROM {table} t LEFT JOIN chain c ON c.id = t.chain"
        );
        connection.for_each(&sql, &[], |row| {
            signed.add_stored(checkpoint(row, kind).as_ref(), trusted);
            Ok(true)
        })?;
    }
    Ok(())
}

fn checkpoint(row: &Row, kind: CheckpointKind) -> Option<Checkpoint> {
    let head = Head {
        chain_id: row.get::<_, &str>(0).parse().ok()?,
        n: unsigned(row.get(1)),
        hash: digest(row, 2)?,
    };
    Some(Checkpoint {
        kind,
        head,
        at: Timestamp::from_millis(unsigned(row.get(3))),
        lost: unsigned(row.get(4)),
        key: row.get(5),
        signature: row.get(6),
    })
}

/// What the records add up to, to be compared with what is kept beside them. Terms are added up as hashes under a key
/// that is new each time, so that no other content has the same sum.
struct Derived {
    key: RandomState,
    terms: u64,
    sums: Sums,
    /// The roll-ups have counted up to here.
    counted: u64,
}

impl Derived {
    fn new(connection: &mut Connection) -> Result<Self, PostgresError> {
        let row = connection.first("SELECT counted FROM meta", &[])?;
        Ok(Self {
            key: RandomState::new(),
            terms: 0,
            sums: Sums::default(),
            counted: row.map_or(0, |row| unsigned(row.get(0))),
        })
    }

    fn add(&mut self, seq: u64, day: i32, fields: &IndexedFields<'_>) {
        for term in terms(fields) {
            let hash = self.key.hash_one((day, term.as_str(), signed(seq)));
            self.terms = self.terms.wrapping_add(hash);
        }
        if seq <= self.counted {
            self.sums.add(seq, day, fields);
        }
    }

    fn first_wrong(
        &self,
        connection: &mut Connection,
        has_floors: bool,
    ) -> Result<Option<Break>, PostgresError> {
        let mut stored = 0_u64;
        connection.for_each("SELECT day, term, seq FROM found", &[], |row| {
            let term: (i32, &str, i64) = (row.get(0), row.get(1), row.get(2));
            stored = stored.wrapping_add(self.key.hash_one(term));
            Ok(true)
        })?;
        if stored != self.terms {
            return Ok(Some(Break::new(BreakKind::WrongIndex)));
        }
        // Roll-ups outlive the records they count.
        if !self.sums.agree(connection, !has_floors)? {
            return Ok(Some(Break::new(BreakKind::WrongRollup)));
        }
        let changed = catalogue::first_changed(connection)?;
        Ok(changed.map(|tool| Break {
            tool: Some(tool.into()),
            ..Break::new(BreakKind::WrongCatalogue)
        }))
    }
}
