//! The parts of a filter as conditions.

use rusqlite::Connection;

use super::{Condition, Plan};
use crate::query::Filter;
use crate::record::Status;
use crate::record::verdict::decision_codes;
use crate::store::sqlite::index::{BUCKET_MILLIS, Dimension, PlacedStatus};
use crate::store::sqlite::keys::KeyKind;
use crate::store::sqlite::lookup::{first_place, names, places_of};
use crate::time::Timestamp;

impl Plan {
    /// False if nothing that is indexed can match, because a name has never been seen.
    pub(super) fn add(
        &mut self,
        connection: &Connection,
        filter: &Filter,
    ) -> rusqlite::Result<bool> {
        let kinds = filter.types.iter().map(|kind| kind.code());
        self.terms(Dimension::Kind, kinds);
        let decisions = filter.decisions.iter();
        let decisions = decisions.flat_map(|decision| decision_codes(*decision));
        self.terms(Dimension::Decision, decisions);
        let stages = filter.stages.iter().map(|stage| *stage as i64);
        self.terms(Dimension::Stage, stages);
        let rules = names(connection, &filter.rules)?;
        let callers = names(connection, &filter.callers)?;
        let is_possible =
            rules.is_some() && callers.is_some() && self.places(connection, filter)?;
        self.terms(Dimension::Rule, rules.unwrap_or_default());
        self.terms(Dimension::Caller, callers.unwrap_or_default());
        self.keys(filter);
        self.times(connection, filter)?;
        Ok(is_possible)
    }

    fn terms(&mut self, dimension: Dimension, values: impl IntoIterator<Item = i64>) {
        self.any_of(values.into_iter().map(|value| dimension.term(value)));
    }

    fn any_of(&mut self, terms: impl Iterator<Item = i64>) {
        let mut terms: Vec<i64> = terms.collect();
        terms.sort_unstable();
        terms.dedup();
        if !terms.is_empty() {
            self.conditions.push(Condition::Terms(terms));
        }
    }

    /// Status, server and tool. False if none of the names has been seen.
    fn places(&mut self, connection: &Connection, filter: &Filter) -> rusqlite::Result<bool> {
        let servers = names(connection, &filter.servers)?;
        let tools = names(connection, &filter.tools)?;
        let (Some(servers), Some(tools)) = (servers, tools) else {
            return Ok(false);
        };
        let statuses = filter.statuses.as_slice();
        if tools.is_empty() {
            let together = PlacedStatus::server_term;
            self.with_statuses(statuses, &servers, Dimension::Server, together);
            return Ok(true);
        }
        let places = places_of(connection, &tools, &servers)?;
        let together = PlacedStatus::place_term;
        self.with_statuses(statuses, &places, Dimension::Place, together);
        Ok(!places.is_empty())
    }

    /// Statuses and servers or places: one condition where there are postings of both `together`.
    fn with_statuses(
        &mut self,
        statuses: &[Status],
        values: &[i64],
        dimension: Dimension,
        together: impl Fn(PlacedStatus, i64) -> i64,
    ) {
        let placed: Option<Vec<PlacedStatus>> = statuses
            .iter()
            .map(|status| PlacedStatus::new(*status))
            .collect();
        match placed {
            Some(placed) if !placed.is_empty() && !values.is_empty() => {
                let pairs = placed
                    .iter()
                    .flat_map(|status| values.iter().map(|value| together(*status, *value)));
                self.any_of(pairs);
            }
            _ => {
                let statuses = statuses.iter().map(|status| status.code());
                self.terms(Dimension::Status, statuses);
                self.terms(dimension, values.iter().copied());
            }
        }
    }

    fn keys(&mut self, filter: &Filter) {
        let request = filter.request_id.as_ref();
        let request = request.map(|id| KeyKind::Request.hash(id.as_bytes()));
        let parent = filter.parent_id;
        let parent = parent.map(|id| KeyKind::Parent.hash(&id.to_bytes()));
        let keys = [request, parent].into_iter().flatten();
        self.conditions.extend(keys.map(Condition::Key));
    }

    /// Times, and what stands for all records if nothing else is asked for.
    fn times(&mut self, connection: &Connection, filter: &Filter) -> rusqlite::Result<()> {
        if let Some(since) = filter.since {
            let first = first_place(connection, since.as_millis())?;
            self.low = self.low.max(first.unwrap_or(i64::MAX as u64));
        }
        if let Some(until) = filter.until {
            let sql = "SELECT max(high) FROM ix.span WHERE bucket <= ?1";
            let high: Option<u64> =
                connection.query_row(sql, [until.as_millis() / BUCKET_MILLIS], |row| row.get(0))?;
            self.high = high.unwrap_or(0);
        }
        if self.conditions.is_empty() || filter.since.is_some() || filter.until.is_some() {
            let since = filter.since.map_or(0, Timestamp::as_millis);
            let until = filter.until.map_or(i64::MAX as u64, Timestamp::as_millis);
            self.conditions.push(Condition::Times(since, until));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use crate::store::sqlite::index::TABLES;

    /// How many conditions the plan for these parts of a filter has.
    fn conditions(pairs: &[(&str, &str)]) -> usize {
        let connection = Connection::open_in_memory().expect("opens");
        let tables = TABLES.replace("CREATE TABLE ", "CREATE TABLE ix.");
        let names = "INSERT INTO ix.name VALUES (1, 'crm'), (2, 'find'); INSERT INTO ix.place VALUES (1, 1, 2)";
        connection
            .execute_batch(&format!("ATTACH ':memory:' AS ix; {tables} {names}"))
            .expect("tables");
        let query = Query::from_pairs(pairs.iter().copied(), Timestamp::now()).expect("query");
        let plan = Plan::new(&connection, &query.filter, 0).expect("plan");
        plan.conditions.len()
    }

    #[test]
    fn a_status_other_than_success_is_asked_for_together_with_server_and_tool() {
        let (server, tool) = (("server", "crm"), ("tool", "find"));
        for status in ["blocked", "error,rejected"] {
            let status = ("status", status);
            assert_eq!(conditions(&[status]), 1);
            assert_eq!(conditions(&[status, server]), 1);
            assert_eq!(conditions(&[status, tool]), 1);
            assert_eq!(conditions(&[status, server, tool]), 1);
        }
        for status in ["success", "success,blocked"] {
            assert_eq!(conditions(&[("status", status), server]), 2);
        }
        assert_eq!(conditions(&[("status", "blocked"), ("tool", "other")]), 0);
    }
}
