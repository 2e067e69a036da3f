//! What a `summary` needs besides its roll-up, whatever the database: records that are not counted yet, and each
//! server's rejections of the last hour and of the week.

use std::collections::HashMap;

use crate::record::Record;
use crate::record::indexed_fields::IndexedFields;
use crate::summary::{CountKey, Counts, Rates, Rising, Totals, rising};
use crate::time::Timestamp;

const MINUTE_MILLIS: u64 = 60_000;
pub(super) const WEEK_HOURS: u64 = 7 * 24;

/// One record, as the roll-up would have counted it.
pub(super) fn count_record(totals: &mut Totals, record: &Record) {
    let key = CountKey {
        server: record.server.as_deref(),
        tool: record.tool.as_deref(),
    };
    let counts = Counts {
        records: 1,
        rates: rates(record),
        tokens: IndexedFields::from(record).control_tokens(),
    };
    totals.add(key, record.kind(), record.status(), counts);
    let mut rules: Vec<&str> = record.findings.iter().map(|f| f.rule.as_ref()).collect();
    rules.sort_unstable();
    rules.dedup();
    for rule in rules {
        totals.add_rule(rule, 1);
    }
}

fn rates(record: &Record) -> Rates {
    Rates {
        validated: u64::from(record.validated),
        rejected: u64::from(record.is_contract_rejection()),
    }
}

/// Each server's last hour, and its last week with that hour in it.
#[derive(Default)]
pub(super) struct ServerRates {
    pub(super) last_hour: HashMap<String, Rates>,
    pub(super) week: HashMap<String, Rates>,
}

impl ServerRates {
    pub(super) fn add(&mut self, record: &Record, now: Timestamp) {
        let (Some(server), rates) = (&record.server, rates(record)) else {
            return;
        };
        let recent = record.timestamp.as_millis() / MINUTE_MILLIS > minute_an_hour_ago(now);
        for map in [recent.then_some(&mut self.last_hour), Some(&mut self.week)]
            .into_iter()
            .flatten()
        {
            let sum = map.entry(server.clone()).or_default();
            sum.validated += rates.validated;
            sum.rejected += rates.rejected;
        }
    }

    /// Why a server is marked, if it is.
    pub(super) fn mark(&self, server: &str) -> Option<Rising> {
        let last_hour = self.last_hour.get(server).copied().unwrap_or_default();
        let week = self.week.get(server).copied().unwrap_or_default();
        let trailing = Rates {
            validated: week.validated.saturating_sub(last_hour.validated),
            rejected: week.rejected.saturating_sub(last_hour.rejected),
        };
        rising(last_hour, trailing)
    }
}

/// The minute an hour before this one.
pub(super) fn minute_an_hour_ago(now: Timestamp) -> u64 {
    (now.as_millis() / MINUTE_MILLIS).saturating_sub(60)
}
