//! `Summary`: counts over a period, by server, tool or rule, with the signals an operator watches.
//!
//! A server is marked as rising when its contract rejections of the last hour, against the trailing week, say so: at least 20 results
//! validated, a rate three times as high and five points higher. Pure arithmetic; the store brings the numbers.

use std::collections::BTreeMap;

use countersign_inspect::word_enum;
use serde::Serialize;

use crate::record::{Kind, Status};
use crate::time::Timestamp;

/// Results of the last hour below which no rate is compared.
const ENOUGH: u64 = 20;

word_enum! {
    /// What a summary's rows are about.
    #[derive(Default)]
    pub enum GroupBy("grouping") {
        /// A row per server, with the rising mark.
        #[default]
        Server = "server",
        /// A row per tool.
        Tool = "tool",
        /// A row per rule.
        Rule = "rule",
    }
}

/// Counts over a period.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// From the start of this hour.
    pub since: Timestamp,
    /// Up to now.
    pub until: Timestamp,
    /// All records.
    pub total: u64,
    /// Records of each type, every type named.
    pub types: BTreeMap<&'static str, u64>,
    /// Records of each status, every status named.
    pub statuses: BTreeMap<&'static str, u64>,
    /// One row per server, tool or rule, the most active first.
    pub rows: Vec<SummaryRow>,
}

/// One server, tool or rule.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SummaryRow {
    /// The server, unless rows are rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool, if rows are tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The rule, if rows are rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Records, or for a rule the records in which it was found.
    pub total: u64,
    /// Records of each status; for rules not counted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub statuses: BTreeMap<&'static str, u64>,
    /// Results that were checked against their contract.
    pub validated: u64,
    /// Results that broke it: their schema, a guard, the shape of a result, or structured content that had to be there.
    pub contract_rejections: u64,
    /// The second as a share of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection_rate: Option<f64>,
    /// Control tokens found, each one counted; not those that are only worth knowing.
    pub token_hits: u64,
    /// The server's rejection rate is rising.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rising: Option<Rising>,
}

/// Why a server is marked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rising {
    /// Contract rejections as a share of validated results, last hour.
    pub last_hour_rate: f64,
    /// The same over the trailing seven days before that hour.
    pub trailing_rate: f64,
}

/// Validated and rejected results of a stretch of time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rates {
    pub(crate) validated: u64,
    pub(crate) rejected: u64,
}

impl Rates {
    fn rate(self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a share of counts")]
        (self.validated > 0).then(|| self.rejected as f64 / self.validated as f64)
    }
}

/// The mark of a server, from its last hour and the week before that hour.
pub(crate) fn rising(last_hour: Rates, trailing: Rates) -> Option<Rising> {
    if last_hour.validated < ENOUGH {
        return None;
    }
    // In whole numbers: three times five per cent is fifteen per cent, whatever floating point says.
    let (rejected, validated) = (
        u128::from(last_hour.rejected),
        u128::from(last_hour.validated),
    );
    let (before, base) = (
        u128::from(trailing.rejected),
        u128::from(trailing.validated.max(1)),
    );
    let three_times = rejected * base >= 3 * before * validated;
    let five_points = 20 * rejected * base >= 20 * before * validated + validated * base;
    (three_times && five_points).then(|| Rising {
        last_hour_rate: last_hour.rate().unwrap_or_default(),
        trailing_rate: trailing.rate().unwrap_or_default(),
    })
}

/// What is counted of records of one kind and status.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) records: u64,
    pub(crate) rates: Rates,
    pub(crate) tokens: u64,
}

/// The server and tool that counts belong to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountKey<'a> {
    pub(crate) server: Option<&'a str>,
    pub(crate) tool: Option<&'a str>,
}

/// Adds up counts, from the roll-up and from single records alike.
#[derive(Debug)]
pub(crate) struct Totals {
    by: GroupBy,
    types: BTreeMap<&'static str, u64>,
    statuses: BTreeMap<&'static str, u64>,
    rows: BTreeMap<(Option<String>, Option<String>), SummaryRow>,
}

impl Totals {
    pub(crate) fn new(by: GroupBy) -> Self {
        let types = Kind::ALL.iter().map(|kind| (kind.as_str(), 0)).collect();
        Self {
            by,
            types,
            statuses: no_statuses(),
            rows: BTreeMap::new(),
        }
    }

    /// Records of one kind and status.
    pub(crate) fn add(&mut self, place: CountKey<'_>, kind: Kind, status: Status, counts: Counts) {
        *self.types.entry(kind.as_str()).or_default() += counts.records;
        *self.statuses.entry(status.as_str()).or_default() += counts.records;
        if let Some(row) = self.row(place) {
            row.total += counts.records;
            *row.statuses.entry(status.as_str()).or_default() += counts.records;
            row.validated += counts.rates.validated;
            row.contract_rejections += counts.rates.rejected;
            row.token_hits += counts.tokens;
        }
    }

    /// `count` records in which a rule was found.
    pub(crate) fn add_rule(&mut self, rule: &str, count: u64) {
        if self.by == GroupBy::Rule {
            let row = self.rows.entry((None, Some(rule.to_owned()))).or_default();
            row.rule = Some(rule.to_owned());
            row.total += count;
        }
    }

    fn row(&mut self, place: CountKey<'_>) -> Option<&mut SummaryRow> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let key = match self.by {
            GroupBy::Server => (Some(place.server?.to_owned()), None),
            GroupBy::Tool => (owned(place.server), Some(place.tool?.to_owned())),
            GroupBy::Rule => return None,
        };
        let blank = || SummaryRow {
            server: key.0.clone(),
            tool: key.1.clone(),
            statuses: no_statuses(),
            ..SummaryRow::default()
        };
        Some(self.rows.entry(key.clone()).or_insert_with(blank))
    }

    pub(crate) fn finish(
        self,
        since: Timestamp,
        until: Timestamp,
        mark: impl Fn(&str) -> Option<Rising>,
    ) -> Summary {
        let is_server = self.by == GroupBy::Server;
        let mut rows: Vec<SummaryRow> = self.rows.into_values().collect();
        for row in &mut rows {
            row.rejection_rate = Rates {
                validated: row.validated,
                rejected: row.contract_rejections,
            }
            .rate();
            row.rising = row.server.as_deref().filter(|_| is_server).and_then(&mark);
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.total));
        let total = self.types.values().sum();
        Summary {
            since,
            until,
            total,
            types: self.types,
            statuses: self.statuses,
            rows,
        }
    }
}

fn no_statuses() -> BTreeMap<&'static str, u64> {
    Status::ALL
        .iter()
        .map(|status| (status.as_str(), 0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(now: (u64, u64), before: (u64, u64)) -> bool {
        let rates = |(validated, rejected)| Rates {
            validated,
            rejected,
        };
        rising(rates(now), rates(before)).is_some()
    }

    #[test]
    fn a_rate_rises_when_all_three_conditions_hold() {
        assert!(mark((20, 3), (1000, 50)), "15 % against 5 %");
        assert!(!mark((19, 19), (1000, 50)), "too few results");
        assert!(!mark((100, 14), (1000, 50)), "less than three times");
        assert!(!mark((100, 4), (1000, 1)), "less than five points");
        assert!(mark((100, 6), (1000, 1)));
        assert!(mark((100, 5), (0, 0)), "nothing before");
        assert!(!mark((100, 0), (0, 0)));
    }

    #[test]
    fn rows_follow_the_grouping() {
        let place = CountKey {
            server: Some("crm"),
            tool: Some("search"),
        };
        let counts = Counts {
            records: 4,
            rates: Rates {
                validated: 4,
                rejected: 1,
            },
            tokens: 3,
        };
        let started = Counts {
            records: 1,
            ..Counts::default()
        };
        for (by, rows) in [(GroupBy::Server, 1), (GroupBy::Tool, 1), (GroupBy::Rule, 2)] {
            let mut totals = Totals::new(by);
            totals.add(place, Kind::ToolCall, Status::Success, counts);
            totals.add(
                CountKey {
                    server: None,
                    tool: None,
                },
                Kind::SystemStart,
                Status::Success,
                started,
            );
            totals.add_rule("token.chatml", 3);
            totals.add_rule("schema.type", 2);
            let summary = totals.finish(Timestamp::default(), Timestamp::default(), |_| None);
            assert_eq!((summary.total, summary.rows.len()), (5, rows), "{by:?}");
            assert_eq!(
                (summary.statuses["success"], summary.statuses["blocked"]),
                (5, 0)
            );
            if by != GroupBy::Rule {
                assert_eq!(
                    (summary.rows[0].token_hits, summary.rows[0].rejection_rate),
                    (3, Some(0.25))
                );
            }
        }
        assert!("client".parse::<GroupBy>().is_err());
    }
}
