//! `Derived`: recomputes what the index says of each record, and what its roll-ups add up to, and compares. Part of `verify`.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};

use super::index::stage_term;
use super::indexer::{Codes, Sums};
use super::read::mark;
use crate::record::Record;
use crate::record::glance::Glance;

/// Compares records with their index entries.
pub(super) struct Derived<'c> {
    mark: u64,
    entry: CachedStatement<'c>,
    found: CachedStatement<'c>,
    /// What the records seen so far add up to.
    pub(super) sums: Sums,
}

/// The terms of one record: as texts to compare, and as the integers of the index.
type Terms = (Vec<(i64, String)>, Vec<i64>);

impl<'c> Derived<'c> {
    /// Call it before anything else is read: the index must not be newer than the records.
    pub(super) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let entry = connection.prepare_cached(
            "SELECT e.id, e.at, e.kind, e.status, e.decision, s.text, ps.text, t.text, c.text, e.request_id, e.parent, e.server, e.place FROM ix.entry e
             JOIN ix.place p ON p.id = e.place LEFT JOIN ix.name s ON s.id = e.server LEFT JOIN ix.name ps ON ps.id = p.server
             LEFT JOIN ix.name t ON t.id = p.tool LEFT JOIN ix.name c ON c.id = e.client WHERE e.seq = ?1",
        )?;
        let found = connection
            .prepare_cached("SELECT f.term, n.text FROM ix.found f LEFT JOIN ix.name n ON n.id = f.term WHERE f.seq = ?1")?;
        Ok(Self {
            mark: mark(connection)?,
            entry,
            found,
            sums: Sums::default(),
        })
    }

    /// Does the index say of this record what the record says?
    pub(super) fn agrees(&mut self, seq: u64, record: &Record) -> rusqlite::Result<bool> {
        if seq > self.mark {
            return Ok(true);
        }
        let entry = self.entry.query_row([seq], |row| {
            let places: (i64, i64) = (row.get(11)?, row.get(12)?);
            Ok(columns_agree(row, record)?.then_some(places))
        });
        let Some((server, place)) = entry.optional()?.flatten() else {
            return Ok(false);
        };
        let (texts, codes) = self.terms(seq)?;
        if texts != expected_terms(record) {
            return Ok(false);
        }
        let codes = Codes {
            server,
            place,
            client: 0,
            terms: codes,
        };
        self.sums.add(seq, &Glance::from(record), &codes);
        Ok(true)
    }

    /// What the index says was found.
    fn terms(&mut self, seq: u64) -> rusqlite::Result<Terms> {
        let mut rows = self.found.query([seq])?;
        let (mut texts, mut codes) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next()? {
            let (term, text): (i64, Option<String>) = (row.get(0)?, row.get(1)?);
            codes.push(term);
            // A rule's integer is the dictionary's affair; its text is what counts.
            texts.push(if term < 0 {
                (term, String::new())
            } else {
                (0, text.unwrap_or_default())
            });
        }
        texts.sort_unstable();
        Ok((texts, codes))
    }
}

fn expected_terms(record: &Record) -> Vec<(i64, String)> {
    let stages = record
        .findings
        .iter()
        .map(|f| (stage_term(f.stage), String::new()));
    let rules = record.findings.iter().map(|f| (0, f.rule.to_string()));
    let mut terms: Vec<_> = stages.chain(rules).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

fn columns_agree(row: &Row<'_>, record: &Record) -> rusqlite::Result<bool> {
    let bytes = |at: usize| -> rusqlite::Result<Option<Vec<u8>>> { row.get(at) };
    let text = |at: usize| -> rusqlite::Result<Option<String>> { row.get(at) };
    let integer = |at: usize| -> rusqlite::Result<Option<i64>> { row.get(at) };
    Ok(bytes(0)? == Some(record.id().to_bytes().to_vec())
        && integer(1)? == i64::try_from(record.timestamp.as_millis()).ok()
        && integer(2)? == Some(record.kind().code())
        && integer(3)? == Some(record.status().code())
        && integer(4)? == Glance::from(record).decision_code()
        && text(5)? == record.server
        && text(6)? == record.server
        && text(7)? == record.tool
        && text(8)? == record.client
        && text(9)? == record.request_id
        && bytes(10)? == record.parent_id.map(|id| id.to_bytes().to_vec()))
}
