//! The parts of a filter that do not lead, as conditions that no index fits.

use tokio_postgres::types::ToSql;

use super::{CALLER, Leader, Plan, indexed_caller};
use crate::query::Filter;
use crate::record::verdict::decision_codes;
use crate::store::postgres::batch::{rule_term, stage_term};
use crate::store::postgres::value::{Uuid, signed, storable};

impl Plan {
    /// Everything but the part that leads.
    pub(super) fn restrict(&mut self, leader: Leader, filter: &Filter) {
        let codes = |codes: &mut dyn Iterator<Item = i64>| -> Vec<i32> {
            codes
                .map(|code| i32::try_from(code).unwrap_or(-1))
                .collect()
        };
        let kinds = codes(&mut filter.types.iter().map(|kind| kind.code()));
        self.any_code(leader == Leader::Kind, "kind", kinds);
        let statuses = codes(&mut filter.statuses.iter().map(|status| status.code()));
        self.any_code(leader.has_status(), "status", statuses);
        let decisions = filter.decisions.iter();
        let decisions = codes(&mut decisions.flat_map(|decision| decision_codes(*decision)));
        self.any_code(leader == Leader::Decision, "decision", decisions);
        self.any_text(leader.has_server(), "server", &filter.servers);
        self.any_text(leader.has_tool(), "tool", &filter.tools);
        self.any_text(
            leader == Leader::Request,
            "request_id",
            filter.request_id.as_slice(),
        );
        let rules: Vec<String> = filter.rules.iter().map(|rule| rule_term(rule)).collect();
        self.any_term(leader == Leader::Rule, rules);
        let stages = filter
            .stages
            .iter()
            .map(|stage| stage_term(*stage))
            .collect();
        self.any_term(leader == Leader::Stage, stages);
        self.any_caller(leader == Leader::Caller, &filter.callers);
        if let Some(parent) = filter.parent_id.filter(|_| leader != Leader::Parent) {
            self.condition(Uuid(parent), |at| format!("a.parent = ${at}::uuid"));
        }
        if let Some(since) = filter.since {
            self.condition(signed(since.as_millis()), |at| {
                format!("a.at >= ${at}::bigint")
            });
        }
        if let Some(until) = filter.until {
            self.condition(signed(until.as_millis()), |at| {
                format!("a.at < ${at}::bigint")
            });
        }
    }

    fn condition(
        &mut self,
        value: impl ToSql + Sync + Send + 'static,
        sql: impl FnOnce(usize) -> String,
    ) {
        let at = self.value(value);
        self.conditions.push_str(" AND ");
        self.conditions.push_str(&sql(at));
    }

    fn any_code(&mut self, leads: bool, column: &str, codes: Vec<i32>) {
        if !leads && !codes.is_empty() {
            self.condition(codes, |at| format!("a.{column} + 0 = ANY(${at}::int[])"));
        }
    }

    fn any_text(&mut self, leads: bool, column: &str, texts: &[String]) {
        if !leads && !texts.is_empty() {
            let texts: Vec<String> = texts
                .iter()
                .map(|text| storable(text).into_owned())
                .collect();
            self.condition(texts, |at| format!("a.{column} || '' = ANY(${at}::text[])"));
        }
    }

    fn any_caller(&mut self, leads: bool, callers: &[String]) {
        if !leads && !callers.is_empty() {
            let callers: Vec<Vec<u8>> = callers.iter().map(|name| indexed_caller(name)).collect();
            self.condition(callers, |at| {
                format!("{CALLER} || '' = ANY(ARRAY(SELECT encode(name, 'escape') FROM unnest(${at}::bytea[]) AS t(name)))")
            });
        }
    }

    fn any_term(&mut self, leads: bool, terms: Vec<String>) {
        if !leads && !terms.is_empty() {
            self.condition(terms, |at| {
                format!("EXISTS (SELECT FROM found t WHERE t.day = a.day AND t.term = ANY(${at}::text[]) AND t.seq = a.seq)")
            });
        }
    }
}
