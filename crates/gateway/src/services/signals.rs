//! Signals for OpenTelemetry: what is known of a call when it begins, and what is told when it has ended. Where the
//! configuration has no receiver, nothing is made at all.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use countersign_audit::{Decision, Evidence, Kind, Record};
use countersign_config::{Config, Secret};
use countersign_telemetry as telemetry;
use countersign_telemetry::{
    Call, CallTrace, EncodedDecision, Options, Severity, SignalCounts, Target, Telemetry, Transport,
};

use crate::random::token;

/// The service name, if the operator gives none.
const SERVICE: &str = "countersign";
/// The rules that a log record names.
const MAX_RULES: usize = 16;

/// Sends signals, if the configuration says where to.
#[derive(Debug)]
pub(crate) struct Signals(Option<Telemetry>);

/// What is known of a call when it begins, for the signals about it.
#[derive(Debug)]
pub(crate) struct CallSignals {
    pub(crate) trace: Option<CallTrace>,
    pub(crate) start: SystemTime,
    /// The version of the protocol that the client speaks, if known.
    pub(crate) version: Option<&'static str>,
    pub(crate) transport: Transport,
    /// Our id of the request to the server; 0 until there is one.
    pub(crate) request_number: AtomicU64,
}

/// What the decisions about a call have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecisionSubject<'a> {
    pub(crate) trace: Option<&'a CallTrace>,
    pub(crate) method: &'a str,
    pub(crate) target: Target<'a>,
}

/// How signals are sent; nothing if they are not.
pub(crate) fn options(config: &Config) -> Option<Options> {
    let otlp = &config.otlp;
    let endpoint = otlp.endpoint.as_ref().map(Secret::expose)?;
    let headers = otlp.headers.iter();
    let given = otlp.resource_attributes.iter();
    let name = otlp.service_name.clone();
    let named = otlp.resource_attributes.get("service.name").cloned();
    let own = [
        ("service.name", name.or(named).unwrap_or(SERVICE.to_owned())),
        ("service.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("service.instance.id", token(16).unwrap_or_default()),
        ("telemetry.sdk.name", "countersign-telemetry".to_owned()),
        ("telemetry.sdk.language", "rust".to_owned()),
        (
            "telemetry.sdk.version",
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
    ];
    let is_name = |key: &str| key == "service.name";
    let is_replaced = |key: &str| !is_name(key) && otlp.resource_attributes.contains_key(key);
    let own = own.into_iter().filter(|(key, _)| !is_replaced(key));
    let given = given.filter(|(key, _)| !is_name(key));
    Some(Options {
        endpoint: endpoint.to_owned(),
        headers: headers
            .map(|(name, value)| (name.clone(), value.expose().to_owned()))
            .collect(),
        traces: otlp.traces,
        metrics: otlp.metrics,
        logs: otlp.logs,
        resource: own
            .map(|(key, value)| (key.to_owned(), value))
            .chain(given.map(|(key, value)| (key.clone(), value.clone())))
            .collect(),
        metrics_interval: otlp.metrics_interval.max(Duration::from_secs(1)),
    })
}

impl Signals {
    /// Starts the tasks that send, if the configuration says where to. Needs a tokio runtime then.
    pub(crate) fn start(config: &Config) -> Self {
        let telemetry = options(config).map(|options| Telemetry::start(&options));
        // The options were checked before anything was started.
        let telemetry = telemetry.and_then(|started| {
            started
                .map_err(|error| tracing::error!(%error, "no signals are sent"))
                .ok()
        });
        Self(telemetry)
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Whether spans are written.
    pub(crate) fn has_traces(&self) -> bool {
        self.0.as_ref().is_some_and(Telemetry::has_traces)
    }

    /// A call has ended.
    pub(crate) fn observe(&self, call: &Call<'_>) {
        if let Some(telemetry) = &self.0 {
            telemetry.observe(call);
        }
    }

    /// The decisions among the records, ready to be sent once they are committed.
    pub(crate) fn encode(
        &self,
        records: &[Record],
        subject: DecisionSubject<'_>,
    ) -> Vec<EncodedDecision> {
        if !self.0.as_ref().is_some_and(Telemetry::has_logs) {
            return Vec::new();
        }
        let decisions = records
            .iter()
            .filter(|record| record.kind() == Kind::PolicyDecision);
        decisions.map(|record| encode(record, subject)).collect()
    }

    /// Sends decisions whose records have got this far.
    pub(crate) fn log(&self, decisions: &[EncodedDecision], evidence: Evidence) {
        if let Some(telemetry) = &self.0
            && evidence != Evidence::StoreDown
        {
            for decision in decisions {
                telemetry.log(decision);
            }
        }
    }

    /// What became of the signals so far; nothing if none are sent.
    pub(crate) fn counts(&self) -> Vec<SignalCounts> {
        self.0.as_ref().map(Telemetry::counts).unwrap_or_default()
    }

    /// Sends what is left, if that does not take long.
    pub(crate) async fn close(&self) {
        if let Some(telemetry) = &self.0 {
            telemetry.close().await;
        }
    }
}

impl CallSignals {
    pub(crate) fn new(
        trace: Option<CallTrace>,
        version: Option<&'static str>,
        transport: Transport,
    ) -> Arc<Self> {
        Arc::new(Self {
            trace,
            start: SystemTime::now(),
            version,
            transport,
            request_number: AtomicU64::new(0),
        })
    }
}

fn encode(record: &Record, subject: DecisionSubject<'_>) -> EncodedDecision {
    let decision = record.decision().unwrap_or(Decision::Allowed);
    let mut rules: Vec<&str> = Vec::new();
    for finding in &record.findings {
        if !rules.contains(&&*finding.rule) && rules.len() < MAX_RULES {
            rules.push(&finding.rule);
        }
    }
    let parent = record.parent_id.map(|id| id.to_string());
    EncodedDecision::from(&telemetry::Decision {
        trace: subject.trace,
        time: SystemTime::UNIX_EPOCH + Duration::from_millis(record.timestamp.as_millis()),
        decision: decision.as_str(),
        severity: match decision {
            Decision::Blocked | Decision::Flagged => Severity::Warn,
            _ => Severity::Info,
        },
        activity_id: &record.id().to_string(),
        parent_id: parent.as_deref(),
        method: Some(subject.method),
        target: subject.target,
        server: record.server.as_deref(),
        caller: record.caller.as_deref(),
        session: record.session_id.as_deref(),
        request_id: record.request_id.as_deref(),
        mode: record.mode.map(countersign_audit::Mode::as_str),
        rules: &rules,
    })
}
