//! `Plan`: how the index answers one filter. One index drives, chosen by how few records it names; the rest are conditions.
//!
//! Each value of the driving filter is walked by itself in the order of the store and the walks are merged, so a page costs what a
//! page holds, not what the filter matches. All SQL text is made of integers and fixed words; texts are bound.

mod conditions;

use rusqlite::{Connection, params_from_iter, types::Value};

use super::lookup::integer;
use crate::query::Filter;

/// How one filter is answered from the index.
pub(super) struct Plan {
    driver: Driver,
    /// Every part of the filter, as conditions on the entry `e`.
    conditions: String,
    /// Texts bound to the conditions, from `?3` on.
    bound: Vec<Value>,
    /// The places in the store that the filter's time may occupy.
    low: u64,
    high: u64,
}

enum Driver {
    /// Nothing in the index can match.
    Nothing,
    /// Walk the entries themselves.
    Entries,
    /// Walk the index `entry_name`, once per value.
    Index {
        name: &'static str,
        terms: Vec<String>,
    },
    /// Walk the findings, once per rule or stage.
    Found(Vec<i64>),
}

/// A driver that could be used, and how many records it names.
struct Candidate {
    count: u64,
    driver: Driver,
}

impl Plan {
    pub(super) fn new(connection: &Connection, filter: &Filter) -> rusqlite::Result<Self> {
        let mut plan = Self {
            driver: Driver::Entries,
            conditions: String::new(),
            bound: Vec::new(),
            low: 0,
            high: i64::MAX as u64,
        };
        let mut candidates = Vec::new();
        plan.closed_sets(connection, filter, &mut candidates)?;
        let possible = plan.places(connection, filter, &mut candidates)?
            && plan.findings(connection, filter, &mut candidates)?;
        plan.texts(filter, &mut candidates);
        plan.times(connection, filter)?;
        plan.driver = match candidates.into_iter().min_by_key(|c| c.count) {
            _ if !possible => Driver::Nothing,
            Some(best) => best.driver,
            None => Driver::Entries,
        };
        Ok(plan)
    }

    fn and(&mut self, condition: &str) {
        self.conditions.push_str(" AND ");
        self.conditions.push_str(condition);
    }

    /// Up to `limit` places of matching records before `before`, newest first.
    pub(super) fn before(
        &self,
        connection: &Connection,
        before: u64,
        limit: usize,
    ) -> rusqlite::Result<Vec<u64>> {
        let mut seqs = Vec::new();
        for Walk {
            from,
            condition,
            seq,
        } in self.walks()
        {
            let sql = format!(
                "SELECT {seq} FROM {from} WHERE {condition} AND {seq} < ?1 AND {seq} >= {}{} ORDER BY {seq} DESC LIMIT ?2",
                self.low, self.conditions
            );
            let before = before.min(self.high.saturating_add(1));
            let mut statement = connection.prepare_cached(&sql)?;
            let bound = [integer(before), integer(limit as u64)]
                .into_iter()
                .chain(self.bound.iter().cloned());
            let rows = statement.query_map(params_from_iter(bound), |row| row.get::<_, u64>(0))?;
            for seq in rows {
                seqs.push(seq?);
            }
        }
        seqs.sort_unstable_by(|a, b| b.cmp(a));
        seqs.dedup();
        seqs.truncate(limit);
        Ok(seqs)
    }

    /// All matches up to `mark`. Scans.
    pub(super) fn count(&self, connection: &Connection, mark: u64) -> rusqlite::Result<u64> {
        if matches!(self.driver, Driver::Nothing) {
            return Ok(0);
        }
        let sql = format!(
            "SELECT count(*) FROM ix.entry e WHERE e.seq <= ?1 AND e.seq >= ?2{}",
            self.conditions
        );
        let bound = [integer(mark.min(self.high)), integer(self.low)]
            .into_iter()
            .chain(self.bound.iter().cloned());
        connection
            .prepare_cached(&sql)?
            .query_row(params_from_iter(bound), |row| row.get(0))
    }

    fn walks(&self) -> Vec<Walk> {
        let entries = |from: String, condition: &str| Walk {
            from,
            condition: condition.to_owned(),
            seq: "e.seq",
        };
        match &self.driver {
            Driver::Nothing => Vec::new(),
            Driver::Entries => vec![entries("ix.entry e".to_owned(), "1")],
            Driver::Index { name, terms } => terms
                .iter()
                .map(|term| entries(format!("ix.entry e INDEXED BY entry_{name}"), term))
                .collect(),
            // The cross join keeps the entries from driving.
            Driver::Found(terms) => terms
                .iter()
                .map(|term| Walk {
                    from: "ix.found f CROSS JOIN ix.entry e".to_owned(),
                    condition: format!("f.term = {term} AND e.seq = f.seq"),
                    seq: "f.seq",
                })
                .collect(),
        }
    }
}

/// One walk in the order of the store.
struct Walk {
    from: String,
    condition: String,
    seq: &'static str,
}
