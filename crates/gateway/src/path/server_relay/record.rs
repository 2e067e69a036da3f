//! The records of what servers ask their clients: each request, and what was decided about it before the client saw it.

use countersign_audit::{Kind, NewId, Outcome, Record, Source};
use countersign_inspect::{Decision, Finding};
use countersign_telemetry::Target;

use super::ServerRelay;
use super::addressee::Addressee;
use crate::services::DecisionSubject;

/// A request of the server, and what was decided about it.
pub(super) struct JudgedRequest<'a> {
    pub(super) id: NewId,
    pub(super) method: &'a str,
    pub(super) size: usize,
    pub(super) is_refused: bool,
    pub(super) decision: Decision,
    pub(super) findings: Vec<Finding>,
}

impl ServerRelay {
    /// Records a request of the server, and what was decided about it before the client saw it.
    pub(super) async fn record(&self, client: &Addressee<'_>, judged: JudgedRequest<'_>) {
        let store = &self.services.store;
        let fill = |record: &mut Record| {
            record.source = Source::Mcp;
            record.server = Some(self.server.to_string());
            record.client = client.session.client.as_deref().map(str::to_owned);
            record.session_id = Some(client.session.public().to_owned());
        };
        let outcome = if judged.is_refused {
            Outcome::Rejected
        } else {
            Outcome::Success
        };
        let mut request = Record::new(judged.id, Kind::ServerText, outcome);
        fill(&mut request);
        request.request_bytes = Some(judged.size as u64);
        request.reason = Some(judged.method.to_owned());
        let what = match judged.decision {
            Decision::Allowed => None,
            Decision::Flagged => Some("was flagged"),
            Decision::Rewritten => Some("was cleaned before the client saw it"),
            Decision::Blocked => Some("was blocked"),
        };
        let decision = what.map(|what| {
            let mut record = Record::decided(store.next_id(), judged.decision);
            fill(&mut record);
            record.parent_id = Some(request.id());
            record.reason = Some(format!("{} {what}", judged.method));
            record.findings = judged.findings;
            record
        });
        let records: Vec<Record> = std::iter::once(request).chain(decision).collect();
        self.services.metrics.observe(&records);
        let signals = &self.services.signals;
        let subject = DecisionSubject {
            trace: None,
            method: judged.method,
            target: Target::Other,
        };
        let decisions = signals.encode(&records, subject);
        let recorded = store.commit((), records).await;
        signals.log(&decisions, recorded.evidence());
    }
}
