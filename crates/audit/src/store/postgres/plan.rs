//! `Plan`: the SQL that finds the records of one filter, newest first.
//!
//! One part of the filter leads, by an index that has the records of each value in the order of their places. The other
//! parts are written so that no index fits them: left to choose, PostgreSQL would combine indexes and sort what they find,
//! which takes longer the more records there are.

mod branch;
mod conditions;

use tokio_postgres::types::ToSql;

use super::batch::{rule_term, stage_term};
use super::value::{Uuid, is_ambiguous, signed, storable};
use crate::query::Filter;
use crate::record::verdict::decision_codes;
use branch::Branch;

/// Statements of more branches than this are not made.
const MAX_BRANCHES: usize = 64;

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

/// Which part of a filter leads: the rarest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leader {
    Request,
    Parent,
    Rule,
    Stage,
    Decision,
    Status,
    Tool,
    ServerAndTool,
    Caller,
    Server,
    Kind,
    Nothing,
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
        let leader = leader(filter);
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
            Leader::Request => self.texts(
                "request_id",
                "a.request_id IS NOT NULL",
                filter.request_id.as_slice(),
            ),
            Leader::Parent => {
                let parent = filter.parent_id.map(Uuid);
                let at = self.value(parent);
                self.branch(
                    &["parent"],
                    vec![format!("${at}::uuid")],
                    "a.parent IS NOT NULL",
                );
            }
            Leader::Rule => self.terms(filter.rules.iter().map(|rule| rule_term(rule)).collect()),
            Leader::Stage => self.terms(
                filter
                    .stages
                    .iter()
                    .map(|stage| stage_term(*stage))
                    .collect(),
            ),
            Leader::Decision => {
                let codes = filter
                    .decisions
                    .iter()
                    .flat_map(|decision| decision_codes(*decision));
                self.codes("decision", "a.decision IS NOT NULL", codes);
            }
            Leader::Status => {
                let codes = filter.statuses.iter().map(|status| status.code());
                self.codes("status", "a.status <> 0", codes);
            }
            Leader::Kind => {
                let codes = filter.types.iter().map(|kind| kind.code());
                self.codes("kind", "a.kind <> 0", codes);
            }
            Leader::Tool => self.texts("tool", "true", &filter.tools),
            Leader::Server => self.texts("server", "true", &filter.servers),
            Leader::ServerAndTool => self.pairs(filter),
            Leader::Caller => self.callers(&filter.callers),
            Leader::Nothing => self.branch(&[], Vec::new(), "true"),
        }
    }

    fn branch(&mut self, columns: &[&'static str], is: Vec<String>, partial: &'static str) {
        let columns = columns.iter().map(|column| format!("a.{column}"));
        self.branches.push(Branch {
            columns: columns.collect(),
            is,
            partial,
            is_term: false,
        });
    }

    /// Integers of ours are written out: an index over a part of the records is used only if it is plain that it fits.
    fn codes(
        &mut self,
        column: &'static str,
        partial: &'static str,
        codes: impl Iterator<Item = i64>,
    ) {
        let mut codes: Vec<i64> = codes.collect();
        codes.sort_unstable();
        codes.dedup();
        for code in codes {
            self.branch(&[column], vec![format!("{code}::smallint")], partial);
        }
    }

    fn texts(&mut self, column: &'static str, partial: &'static str, texts: &[String]) {
        for text in texts {
            let at = self.value(storable(text).into_owned());
            self.branch(&[column], vec![format!("${at}::text")], partial);
        }
    }

    fn pairs(&mut self, filter: &Filter) {
        let name = |plan: &mut Self, text: &String| {
            let at = plan.value(storable(text).into_owned());
            format!("${at}::text")
        };
        let servers: Vec<String> = filter.servers.iter().map(|text| name(self, text)).collect();
        let tools: Vec<String> = filter.tools.iter().map(|text| name(self, text)).collect();
        for server in &servers {
            for tool in &tools {
                self.branch(
                    &["server", "tool"],
                    vec![server.clone(), tool.clone()],
                    "true",
                );
            }
        }
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

fn leader(filter: &Filter) -> Leader {
    let is_rare = |codes: &mut dyn Iterator<Item = i64>| {
        let codes: Vec<i64> = codes.collect();
        !codes.is_empty() && !codes.contains(&0)
    };
    let pairs = filter.servers.len() * filter.tools.len();
    if filter.request_id.is_some() {
        Leader::Request
    } else if filter.parent_id.is_some() {
        Leader::Parent
    } else if !filter.rules.is_empty() {
        Leader::Rule
    } else if is_rare(&mut filter.statuses.iter().map(|status| status.code())) {
        Leader::Status
    } else if !filter.decisions.is_empty() {
        Leader::Decision
    } else if !filter.stages.is_empty() {
        Leader::Stage
    } else if pairs > 0 && pairs <= MAX_BRANCHES {
        Leader::ServerAndTool
    } else if !filter.tools.is_empty() {
        Leader::Tool
    } else if !filter.callers.is_empty() {
        Leader::Caller
    } else if !filter.servers.is_empty() {
        Leader::Server
    } else if is_rare(&mut filter.types.iter().map(|kind| kind.code())) {
        Leader::Kind
    } else {
        Leader::Nothing
    }
}
