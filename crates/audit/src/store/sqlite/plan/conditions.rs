//! The parts of a filter as conditions, and which of them could drive.

use rusqlite::{Connection, types::Value};

use super::{Candidate, Driver, Plan};
use crate::query::Filter;
use crate::record::verdict::decision_codes;
use crate::record::{Kind, Status};
use crate::store::sqlite::index::{BUCKET_MILLIS, Dimension, stage_term};
use crate::store::sqlite::lookup::{first_place, has_serverless, joined, names, places_of, tally};

/// A column whose partial index could drive.
struct Column {
    name: &'static str,
    /// What the index is partial by.
    partial: &'static str,
    dimension: Dimension,
}

const KIND: Column = Column::new("kind", "e.kind <> 0", Dimension::Kind);
const STATUS: Column = Column::new("status", "e.status <> 0", Dimension::Status);
const DECISION: Column = Column::new("decision", "e.decision IS NOT NULL", Dimension::Decision);
const SERVER: Column = Column::new("server", "e.server <> 0", Dimension::Server);
const PLACE: Column = Column::new("place", "e.server <> 0", Dimension::Place);

impl Column {
    const fn new(name: &'static str, partial: &'static str, dimension: Dimension) -> Self {
        Self {
            name,
            partial,
            dimension,
        }
    }

    fn is_any_of(&self, values: &[i64]) -> String {
        format!("e.{} IN ({})", self.name, joined(values))
    }

    fn driver(&self, connection: &Connection, values: &[i64]) -> rusqlite::Result<Candidate> {
        let Self { name, partial, .. } = self;
        let term = |value: &i64| format!("e.{name} = {value} AND {partial}");
        Ok(Candidate {
            count: tally(connection, self.dimension, values)?,
            driver: Driver::Index {
                name,
                terms: values.iter().map(term).collect(),
            },
        })
    }
}

impl Plan {
    /// Type, status, decision. Values that the partial index leaves out cannot drive.
    pub(super) fn closed_sets(
        &mut self,
        connection: &Connection,
        filter: &Filter,
        candidates: &mut Vec<Candidate>,
    ) -> rusqlite::Result<()> {
        let kinds: Vec<i64> = filter.types.iter().map(|k| k.code()).collect();
        let statuses: Vec<i64> = filter.statuses.iter().map(|s| s.code()).collect();
        let decisions = filter.decisions.iter();
        let mut decisions: Vec<i64> = decisions.flat_map(|d| decision_codes(*d)).collect();
        decisions.sort_unstable();
        decisions.dedup();
        for (column, values, left_out) in [
            (KIND, kinds, Some(Kind::ToolCall.code())),
            (STATUS, statuses, Some(Status::Success.code())),
            (DECISION, decisions, None),
        ] {
            if values.is_empty() {
                continue;
            }
            self.and(&column.is_any_of(&values));
            if !left_out.is_some_and(|left_out| values.contains(&left_out)) {
                candidates.push(column.driver(connection, &values)?);
            }
        }
        Ok(())
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
            self.and(&SERVER.is_any_of(&servers));
            candidates.push(SERVER.driver(connection, &servers)?);
        }
        if !filter.tools.is_empty() {
            let tools = names(connection, &filter.tools)?;
            let places = places_of(connection, &tools, &servers)?;
            if places.is_empty() {
                return Ok(false);
            }
            self.and(&PLACE.is_any_of(&places));
            let without_server = servers.is_empty() && has_serverless(connection, &places)?;
            if !without_server {
                candidates.push(PLACE.driver(connection, &places)?);
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
        let stages: Vec<i64> = filter.stages.iter().map(|s| stage_term(*s)).collect();
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
            (request, "request_id", "request"),
            (parent, "parent", "parent"),
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
