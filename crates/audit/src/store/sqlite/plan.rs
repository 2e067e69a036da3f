//! `Plan`: how the index answers one filter. One index drives, chosen by how few records it names; the rest are conditions.
//!
//! Each value of the driving filter is walked by itself in the order of the store and the walks are merged, so a page costs what a
//! page holds, not what the filter matches. All SQL text is made of integers and fixed words; texts are bound.

use rusqlite::{Connection, params_from_iter, types::Value};

use super::index::{BUCKET_MILLIS, Dimension};
use super::indexer::term_of_stage;
use super::lookup::{first_place, has_serverless, integer, joined, names, places_of, tally};
use crate::query::Filter;
use crate::record::verdict::decision_code;
use crate::record::{Kind, Status};

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
    /// Walk an index of the entries, once per value.
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
        let possible = plan.closed_sets(connection, filter, &mut candidates)?
            && plan.places(connection, filter, &mut candidates)?
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

    /// Type, status, decision. Values that the partial index leaves out cannot drive.
    fn closed_sets(
        &mut self,
        connection: &Connection,
        filter: &Filter,
        candidates: &mut Vec<Candidate>,
    ) -> rusqlite::Result<bool> {
        let kinds: Vec<i64> = filter.types.iter().map(|k| k.code()).collect();
        let statuses: Vec<i64> = filter.statuses.iter().map(|s| s.code()).collect();
        let decisions: Vec<i64> = filter.decisions.iter().map(|d| decision_code(*d)).collect();
        let sets = [
            (
                "kind",
                "entry_kind",
                "e.kind <> 0",
                Dimension::Kind,
                kinds,
                Kind::ToolCall.code(),
            ),
            (
                "status",
                "entry_status",
                "e.status <> 0",
                Dimension::Status,
                statuses,
                Status::Success.code(),
            ),
            (
                "decision",
                "entry_decision",
                "e.decision IS NOT NULL",
                Dimension::Decision,
                decisions,
                -1,
            ),
        ];
        for (column, name, partial, dimension, values, left_out) in sets {
            if values.is_empty() {
                continue;
            }
            self.and(&format!("e.{column} IN ({})", joined(&values)));
            if !values.contains(&left_out) {
                let terms = values
                    .iter()
                    .map(|v| format!("e.{column} = {v} AND {partial}"))
                    .collect();
                candidates.push(Candidate {
                    count: tally(connection, dimension, &values)?,
                    driver: Driver::Index { name, terms },
                });
            }
        }
        Ok(true)
    }

    /// Server and tool, through the dictionary. False if a name has never been seen.
    fn places(
        &mut self,
        connection: &Connection,
        filter: &Filter,
        candidates: &mut Vec<Candidate>,
    ) -> rusqlite::Result<bool> {
        let servers = names(connection, &filter.servers)?;
        if !filter.servers.is_empty() {
            if servers.is_empty() {
                return Ok(false);
            }
            self.and(&format!("e.server IN ({})", joined(&servers)));
            let terms = servers
                .iter()
                .map(|v| format!("e.server = {v} AND e.server <> 0"))
                .collect();
            let driver = Driver::Index {
                name: "entry_server",
                terms,
            };
            candidates.push(Candidate {
                count: tally(connection, Dimension::Server, &servers)?,
                driver,
            });
        }
        if !filter.tools.is_empty() {
            let tools = names(connection, &filter.tools)?;
            let places = places_of(connection, &tools, &servers)?;
            if places.is_empty() {
                return Ok(false);
            }
            self.and(&format!("e.place IN ({})", joined(&places)));
            let without_server = servers.is_empty() && has_serverless(connection, &places)?;
            if !without_server {
                let terms = places
                    .iter()
                    .map(|v| format!("e.place = {v} AND e.server <> 0"))
                    .collect();
                let driver = Driver::Index {
                    name: "entry_place",
                    terms,
                };
                candidates.push(Candidate {
                    count: tally(connection, Dimension::Place, &places)?,
                    driver,
                });
            }
        }
        Ok(true)
    }

    fn findings(
        &mut self,
        connection: &Connection,
        filter: &Filter,
        candidates: &mut Vec<Candidate>,
    ) -> rusqlite::Result<bool> {
        let stages: Vec<i64> = filter.stages.iter().map(|s| term_of_stage(*s)).collect();
        let rules = names(connection, &filter.rules)?;
        if !filter.rules.is_empty() && rules.is_empty() {
            return Ok(false);
        }
        for terms in [stages, rules]
            .into_iter()
            .filter(|terms| !terms.is_empty())
        {
            self.and(&format!(
                "EXISTS (SELECT 1 FROM ix.found x WHERE x.term IN ({}) AND x.seq = e.seq)",
                joined(&terms)
            ));
            candidates.push(Candidate {
                count: tally(connection, Dimension::Term, &terms)?,
                driver: Driver::Found(terms),
            });
        }
        Ok(true)
    }

    /// Request and parent ids: as good as unique.
    fn texts(&mut self, filter: &Filter, candidates: &mut Vec<Candidate>) {
        let request = filter.request_id.clone().map(Value::Text);
        let parent = filter
            .parent_id
            .map(|id| Value::Blob(id.to_bytes().to_vec()));
        for (value, column, name) in [
            (request, "request_id", "entry_request"),
            (parent, "parent", "entry_parent"),
        ] {
            if let Some(value) = value {
                self.bound.push(value);
                let condition = format!(
                    "e.{column} = ?{} AND e.{column} IS NOT NULL",
                    self.bound.len() + 2
                );
                self.and(&condition);
                candidates.push(Candidate {
                    count: 0,
                    driver: Driver::Index {
                        name,
                        terms: vec!["1".to_owned()],
                    },
                });
            }
        }
    }

    fn times(&mut self, connection: &Connection, filter: &Filter) -> rusqlite::Result<()> {
        if let Some(since) = filter.since {
            self.and(&format!("e.at >= {}", since.as_millis()));
            self.low = first_place(connection, since.as_millis())?.unwrap_or(i64::MAX as u64);
        }
        if let Some(until) = filter.until {
            self.and(&format!("e.at < {}", until.as_millis()));
            let sql = "SELECT max(high) FROM ix.span WHERE bucket <= ?1";
            let high: Option<u64> =
                connection.query_row(sql, [until.as_millis() / BUCKET_MILLIS], |row| row.get(0))?;
            self.high = high.unwrap_or(0);
        }
        Ok(())
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
                .map(|term| entries(format!("ix.entry e INDEXED BY {name}"), term))
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
