//! The parts of a filter as conditions, and which of them could drive.

use rusqlite::{Connection, types::Value};

use super::{Candidate, Driver, Plan};
use crate::query::Filter;
use crate::record::verdict::decision_code;
use crate::record::{Kind, Status};
use crate::store::sqlite::index::{BUCKET_MILLIS, Dimension};
use crate::store::sqlite::indexer::term_of_stage;
use crate::store::sqlite::lookup::{first_place, has_serverless, joined, names, places_of, tally};

impl Plan {
    /// Type, status, decision. Values that the partial index leaves out cannot drive.
    pub(super) fn closed_sets(
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
    pub(super) fn places(
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

    pub(super) fn findings(
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
    pub(super) fn texts(&mut self, filter: &Filter, candidates: &mut Vec<Candidate>) {
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

    pub(super) fn times(
        &mut self,
        connection: &Connection,
        filter: &Filter,
    ) -> rusqlite::Result<()> {
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
}
