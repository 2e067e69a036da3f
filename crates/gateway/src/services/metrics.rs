//! What monitoring reads: counters of calls, decisions and findings by server. Filled from the
//! records that go to the store, so that counters and records agree. Servers are registered
//! before they are called; counting then touches atomics only. Text that servers chose never
//! becomes a label without a bound.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use countersign_audit::{Decision, Finding, Kind, Record, Stage, Status};
use countersign_dial::lock;

/// Upper bounds of the buckets a call's duration falls into, in microseconds.
pub(crate) const BOUNDS: [u64; 12] = [
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    1_000_000,
    5_000_000,
    30_000_000,
    120_000_000,
];
/// Tools that have a series of their own for control tokens.
const MAX_TOOLS: usize = 1000;
const MAX_LABEL: usize = 128;

/// Every counter that has labels.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) servers: ArcSwap<BTreeMap<Arc<str>, Arc<Counts>>>,
    /// Records that belong to no server.
    pub(crate) no_server: Counts,
    /// Control tokens by server and tool; written only when there are some.
    pub(crate) tokens: Mutex<BTreeMap<(String, String), u64>>,
}

/// What is counted for one server.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) calls: [AtomicU64; Status::ALL.len()],
    pub(crate) decisions: [AtomicU64; Decision::ALL.len()],
    pub(crate) records: [AtomicU64; Status::ALL.len()],
    pub(crate) findings: [AtomicU64; Stage::ALL.len()],
    pub(crate) validated: AtomicU64,
    pub(crate) contract_rejections: AtomicU64,
    pub(crate) buckets: [AtomicU64; BOUNDS.len()],
    pub(crate) micros: AtomicU64,
    pub(crate) timed: AtomicU64,
}

impl Metrics {
    /// Shows a server, with zeros, before it is ever called.
    pub(crate) fn register(&self, server: &str) {
        self.counts(server);
    }

    fn counts(&self, server: &str) -> Arc<Counts> {
        if let Some(counts) = self.servers.load().get(server) {
            return Arc::clone(counts);
        }
        self.servers.rcu(|known| {
            let mut servers = BTreeMap::clone(known);
            servers.entry(server.into()).or_default();
            servers
        });
        self.servers
            .load()
            .get(server)
            .map(Arc::clone)
            .unwrap_or_default()
    }

    /// Counts the records of a call.
    pub(crate) fn observe(&self, records: &[Record]) {
        for record in records {
            match &record.server {
                Some(server) => {
                    self.counts(server).observe(record);
                    self.tokens(server, record);
                }
                None => self.no_server.observe(record),
            }
        }
    }

    fn tokens(&self, server: &str, record: &Record) {
        let hits: u64 = record.findings.iter().map(Finding::control_tokens).sum();
        if hits == 0 {
            return;
        }
        let tool = record.tool.as_deref().unwrap_or_default();
        let key = (server.to_owned(), tool.chars().take(MAX_LABEL).collect());
        let mut tokens = lock(&self.tokens);
        let full = tokens.len() >= MAX_TOOLS && !tokens.contains_key(&key);
        let key = if full {
            (server.to_owned(), String::new())
        } else {
            key
        };
        *tokens.entry(key).or_default() += hits;
    }
}

impl Counts {
    fn observe(&self, record: &Record) {
        let status = record.status() as usize;
        count(&self.records, status);
        // Findings on the record of a call led to no decision, so they are not counted.
        let decided = record.findings.iter().filter(|_| !record.kind().is_call());
        for finding in decided {
            count(&self.findings, finding.stage as usize);
        }
        if record.kind() == Kind::ToolCall {
            count(&self.calls, status);
            self.validated
                .fetch_add(u64::from(record.validated), Ordering::Relaxed);
            self.time(record);
        }
        if let Some(decision) = record.decision() {
            count(&self.decisions, decision as usize);
            self.contract_rejections
                .fetch_add(u64::from(record.is_contract_rejection()), Ordering::Relaxed);
        }
    }

    fn time(&self, record: &Record) {
        let Some(duration) = record.duration_ms else {
            return;
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a duration is not negative, and whole microseconds are meant"
        )]
        let micros = (duration.as_f64() * 1000.0) as u64;
        self.micros.fetch_add(micros, Ordering::Relaxed);
        self.timed.fetch_add(1, Ordering::Relaxed);
        // Nothing is counted beyond the last bound.
        count(
            &self.buckets,
            BOUNDS.partition_point(|bound| *bound < micros),
        );
    }
}

fn count(counters: &[AtomicU64], index: usize) {
    if let Some(counter) = counters.get(index) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
