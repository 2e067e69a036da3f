//! `Plan`: the SQL that finds the records of one filter, newest first.
//!
//! One part of the filter leads, by an index that has the records of each value in the order of their places. The other
//! parts are written so that no index fits them: left to choose, PostgreSQL would combine indexes and sort what they find,
//! which takes longer the more records there are.

mod branch;
mod conditions;
mod leader;

use tokio_postgres::types::ToSql;

use super::batch::{rule_term, stage_term};
use super::value::{Uuid, is_ambiguous, signed, storable};
use crate::query::Filter;
use crate::record::verdict::decision_codes;
use branch::Branch;
use leader::Leader;

/// The caller of a record, as `caller_of` reads it from the body.
const CALLER: &str = "caller_of(a.body)";
const CALLER_IS_INDEXED: &str = "caller_of(a.body) <> ''";

pub(super) type Value = Box<dyn ToSql + Sync + Send>;

/// Places from the first up to, but not including, the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: u64,
    pub(super) before: u64,
}

/// The SQL of a filter, and its values.
pub(super) struct Plan {
    branches: Vec<Branch>,
    conditions: String,
    values: Vec<Value>,
}

/// Whether what the SQL finds matches without a look at the record.
pub(super) fn is_exact(filter: &Filter) -> bool {
    let names = filter
        .servers
        .iter()
        .chain(&filter.tools)
        .chain(&filter.rules);
    let mut names = names.chain(&filter.request_id);
    // What the index has of a caller may be that of another one.
    filter.callers.is_empty() && !names.any(|text| is_ambiguous(text))
}

impl Plan {
    pub(super) fn new(filter: &Filter) -> Self {
        let mut plan = Self::without_leader();
        let leader = Leader::of(filter);
        plan.lead(leader, filter);
        plan.restrict(leader, filter);
        plan
    }

    fn without_leader() -> Self {
        Self {
            branches: Vec::new(),
            conditions: String::new(),
            values: Vec::new(),
        }
    }

    /// Up to `limit` records of a range, newest first: place, chain, number, body, hash.
    ///
    /// The days are written out: PostgreSQL plans a statement of one partition a hundred times faster than one of a hundred.
    pub(super) fn select(
        &self,
        days: &[i32],
        range: Range,
        limit: usize,
    ) -> (String, Vec<&(dyn ToSql + Sync)>, [i64; 3]) {
        let days = list_of(days);
        let first = self.values.len() + 1;
        let (from, before, most) = (first, first + 1, first + 2);
        let branches: Vec<String> = self
            .branches
            .iter()
            .map(|branch| branch.select(&self.conditions, &days, (from, before, most)))
            .collect();
        let places = branches.join(" UNION ALL ");
        let sql = format!(
            "SELECT a.seq, c.chain_id, a.n, a.body, a.hash FROM (SELECT DISTINCT day, seq FROM ({places}) found ORDER BY seq DESC LIMIT ${most}) p
             JOIN activity a ON a.day = p.day AND a.day IN ({days}) AND a.seq = p.seq JOIN chain c ON c.id = a.chain ORDER BY p.seq DESC"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let bounds = [signed(range.from), signed(range.before), limit];
        (sql, self.values(), bounds)
    }

    /// The number of all matches. It reads every record that the rarest part has.
    pub(super) fn count(filter: &Filter) -> (String, Vec<Value>) {
        let mut plan = Self::without_leader();
        plan.restrict(Leader::Nothing, filter);
        let conditions = plan.conditions;
        let sql = format!("SELECT count(*) FROM activity a WHERE true{conditions}");
        (sql, plan.values)
    }

    fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        let values = self.values.iter();
        values
            .map(|value| &**value as &(dyn ToSql + Sync))
            .collect()
    }

    fn value(&mut self, value: impl ToSql + Sync + Send + 'static) -> usize {
        self.values.push(Box::new(value));
        self.values.len()
    }

    fn lead(&mut self, leader: Leader, filter: &Filter) {
        match leader {
            Leader::Request => {
                let ids = self.texts(filter.request_id.as_slice());
                self.combine(&[("request_id", ids)], "a.request_id IS NOT NULL");
            }
            Leader::Parent => {
                let at = self.value(filter.parent_id.map(Uuid));
                let parent = vec![format!("${at}::uuid")];
                self.combine(&[("parent", parent)], "a.parent IS NOT NULL");
            }
            Leader::Rule => self.terms(filter.rules.iter().map(|rule| rule_term(rule)).collect()),
            Leader::Stage => {
                let stages = filter.stages.iter();
                self.terms(stages.map(|stage| stage_term(*stage)).collect());
            }
            Leader::Decision => {
                let decisions = filter.decisions.iter();
                let decisions = codes(decisions.flat_map(|decision| decision_codes(*decision)));
                self.combine(&[("decision", decisions)], "a.decision IS NOT NULL");
            }
            Leader::Kind => {
                let kinds = codes(filter.types.iter().map(|kind| kind.code()));
                self.combine(&[("kind", kinds)], "a.kind <> 0");
            }
            Leader::Caller => self.callers(&filter.callers),
            Leader::Nothing => self.combine(&[], "true"),
            _ => self.lead_by_names(leader, filter),
        }
    }

    /// Status, server and tool, or those of them that lead.
    fn lead_by_names(&mut self, leader: Leader, filter: &Filter) {
        let mut parts = Vec::new();
        if leader.has_status() {
            let statuses = filter.statuses.iter();
            parts.push(("status", codes(statuses.map(|status| status.code()))));
        }
        if leader.has_server() {
            parts.push(("server", self.texts(&filter.servers)));
        }
        if leader.has_tool() {
            parts.push(("tool", self.texts(&filter.tools)));
        }
        let partial = if leader.has_status() {
            "a.status <> 0"
        } else {
            "true"
        };
        self.combine(&parts, partial);
    }

    /// A branch for each combination of the values of these columns.
    fn combine(&mut self, parts: &[(&'static str, Vec<String>)], partial: &'static str) {
        let mut rows = vec![Vec::new()];
        for (_, values) in parts {
            let longer = |row: &Vec<String>| -> Vec<Vec<String>> {
                let with = |value: &String| [row.as_slice(), std::slice::from_ref(value)].concat();
                values.iter().map(with).collect()
            };
            rows = rows.iter().flat_map(longer).collect();
        }
        for is in rows {
            let columns = parts.iter().map(|(column, _)| format!("a.{column}"));
            self.branches.push(Branch {
                columns: columns.collect(),
                is,
                partial,
                is_term: false,
            });
        }
    }

    fn texts(&mut self, texts: &[String]) -> Vec<String> {
        let texts = texts.iter().map(|text| {
            let at = self.value(storable(text).into_owned());
            format!("${at}::text")
        });
        texts.collect()
    }

    fn callers(&mut self, callers: &[String]) {
        for caller in callers {
            let at = self.value(indexed_caller(caller));
            self.branches.push(Branch {
                columns: vec![format!("{CALLER} COLLATE \"C\"")],
                is: vec![format!("encode(${at}::bytea, 'escape') COLLATE \"C\"")],
                partial: CALLER_IS_INDEXED,
                is_term: false,
            });
        }
    }

    fn terms(&mut self, terms: Vec<String>) {
        for term in terms {
            let at = self.value(term);
            self.branches.push(Branch {
                columns: vec!["f.term".to_owned()],
                is: vec![format!("${at}::text")],
                partial: "true",
                is_term: true,
            });
        }
    }
}

/// A caller as `caller_of` has it before it is encoded: JSON, up to the first quotation mark in it.
fn indexed_caller(caller: &str) -> Vec<u8> {
    let json = serde_json::to_string(caller).unwrap_or_default();
    let inside = json.get(1..).unwrap_or_default();
    let (begin, _) = inside.split_once('"').unwrap_or((inside, ""));
    begin.as_bytes().to_vec()
}

/// Days as the inside of an `IN`.
pub(super) fn list_of(days: &[i32]) -> String {
    let days: Vec<String> = days.iter().map(i32::to_string).collect();
    days.join(", ")
}

/// Integers of ours are written out: an index over a part of the records is used only if it is plain that it fits.
fn codes(codes: impl Iterator<Item = i64>) -> Vec<String> {
    let mut codes: Vec<i64> = codes.collect();
    codes.sort_unstable();
    codes.dedup();
    codes
        .iter()
        .map(|code| format!("{code}::smallint"))
        .collect()
}
