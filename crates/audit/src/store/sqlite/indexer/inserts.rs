//! `Inserts`: the rows a batch adds to `entry` and `found`.
//!
//! Rows of `entry` go in many at a time. A statement opens the table and its indexes once for all its rows, and rows that
//! belong at the end of an index are put there without a search, which more than halves what a row costs.

use rusqlite::{CachedStatement, params};

use super::Codes;
use crate::record::glance::Glance;
use crate::store::sqlite::transaction::Transaction;

/// Rows of `entry` per statement.
const ROWS: usize = 32;
const COLUMNS: usize = 11;

/// The statements of a batch, looked up once, and the rows that wait to be full a statement.
pub(super) struct Inserts<'t> {
    many: CachedStatement<'t>,
    one: CachedStatement<'t>,
    found: CachedStatement<'t>,
    waiting: Vec<Entry>,
}

/// A row of `entry`.
struct Entry {
    seq: u64,
    id: [u8; 16],
    at: u64,
    kind: i64,
    status: i64,
    decision: Option<i64>,
    server: i64,
    place: i64,
    client: i64,
    request_id: Option<String>,
    parent: Option<[u8; 16]>,
}

impl<'t> Inserts<'t> {
    pub(super) fn new(transaction: &'t Transaction<'_>) -> rusqlite::Result<Self> {
        let found = "INSERT INTO found(term, seq) VALUES (?1, ?2)";
        Ok(Self {
            many: transaction.prepare_cached(&sql(ROWS))?,
            one: transaction.prepare_cached(&sql(1))?,
            found: transaction.prepare_cached(found)?,
            waiting: Vec::with_capacity(ROWS),
        })
    }

    pub(super) fn add(
        &mut self,
        seq: u64,
        record: &Glance<'_>,
        codes: &Codes,
    ) -> rusqlite::Result<()> {
        self.waiting.push(Entry {
            seq,
            id: record.id.to_bytes(),
            at: record.timestamp.as_millis(),
            kind: record.kind.code(),
            status: record.status.code(),
            decision: record.decision_code(),
            server: codes.server,
            place: codes.place,
            client: codes.client,
            parent: record.parent_id.map(crate::id::Ulid::to_bytes),
            request_id: record.request_id.map(str::to_owned),
        });
        for term in &codes.terms {
            self.found.execute(params![term, seq])?;
        }
        if self.waiting.len() == ROWS {
            insert(&mut self.many, &self.waiting)?;
            self.waiting.clear();
        }
        Ok(())
    }

    /// Writes what still waits.
    pub(super) fn finish(mut self) -> rusqlite::Result<()> {
        for entry in &self.waiting {
            insert(&mut self.one, std::slice::from_ref(entry))?;
        }
        Ok(())
    }
}

/// `OR FAIL`: what a failed statement leaves behind goes with its transaction, so the database need not keep what was there before.
fn sql(rows: usize) -> String {
    let row = format!("({})", ["?"; COLUMNS].join(","));
    format!(
        "INSERT OR FAIL INTO entry(seq, id, at, kind, status, decision, server, place, client, request_id, parent) VALUES {}",
        vec![row; rows].join(",")
    )
}

fn insert(statement: &mut CachedStatement<'_>, entries: &[Entry]) -> rusqlite::Result<()> {
    for (entry, row) in entries.iter().zip(0..) {
        let mut column = row * COLUMNS;
        let mut next = || {
            column += 1;
            column
        };
        statement.raw_bind_parameter(next(), entry.seq)?;
        statement.raw_bind_parameter(next(), entry.id)?;
        statement.raw_bind_parameter(next(), entry.at)?;
        statement.raw_bind_parameter(next(), entry.kind)?;
        statement.raw_bind_parameter(next(), entry.status)?;
        statement.raw_bind_parameter(next(), entry.decision)?;
        statement.raw_bind_parameter(next(), entry.server)?;
        statement.raw_bind_parameter(next(), entry.place)?;
        statement.raw_bind_parameter(next(), entry.client)?;
        statement.raw_bind_parameter(next(), entry.request_id.as_deref())?;
        statement.raw_bind_parameter(next(), entry.parent)?;
    }
    statement.raw_execute().map(drop)
}
