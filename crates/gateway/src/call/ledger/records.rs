//! The records themselves: one of the call, and one of each decision about it that is not an allowance.

use countersign_audit as audit;
use countersign_audit::{Kind, Outcome, Record, Source};
use countersign_inspect::{
    Decision, Finding, InputVerdict, Inspected, Mode, Refusal, Severity, Stage,
};

use super::{Common, Ledger};
use crate::call::Conclusion;
use crate::noise::hex;

impl Ledger {
    pub(super) fn records(&self, conclusion: &Conclusion) -> Vec<Record> {
        let kind = self.method.recorded_as();
        let call = kind.map(|kind| self.call(kind, conclusion));
        let mut records: Vec<Record> = call.into_iter().collect();
        if let Some(verdict) = &self.input
            && verdict.decision != Decision::Allowed
        {
            let mut record = self.decision(verdict.decision, verdict.mode, &verdict.findings);
            record.reason.clone_from(&verdict.reason);
            records.push(record);
        }
        // Refused arguments are a decision of their own; there was no result to decide about.
        if let Conclusion::Result(inspected) = conclusion
            && inspected.decision() != Decision::Allowed
            && !self.is_refused_input()
        {
            records.push(self.verdict(inspected));
        }
        records
    }

    fn is_refused_input(&self) -> bool {
        let blocked = |verdict: &InputVerdict| verdict.decision == Decision::Blocked;
        self.input.as_ref().is_some_and(blocked)
    }

    fn call(&self, kind: Kind, conclusion: &Conclusion) -> Record {
        let mut record = Record::new(self.id, kind, self.outcome(conclusion));
        self.fill(&mut record);
        record.duration_ms = Some(self.started.elapsed().into());
        record.request_bytes = Some(self.request.len() as u64);
        record.mode = Some(self.mode(conclusion));
        match conclusion {
            Conclusion::UnknownTool => record.reason = Some(Refusal::UnknownTool.to_string()),
            Conclusion::Result(inspected) => self.describe(inspected, &mut record),
        }
        let passed = !self.is_refused_input();
        record.request = self.settings().payloads.capture(&self.request, passed);
        record
    }

    fn describe(&self, inspected: &Inspected, record: &mut Record) {
        if self.refusal.is_some() || self.is_refused_input() {
            record.reason = inspected.reason().map(str::to_owned);
            return;
        }
        if self.own {
            return;
        }
        record.response_bytes = Some(inspected.received_bytes() as u64);
        record.validated = is_validated(inspected);
        self.judged(inspected, record);
        let digest = inspected.structured_digest().map(|(_, digest)| digest);
        let digest = digest.unwrap_or_else(|| inspected.received_digest());
        record.payload_digest = Some(hex(digest.as_bytes()));
        if self.settings().config.activity.payloads != audit::Payloads::None {
            let emitted = inspected.emitted().into_bytes();
            let passed = inspected.decision() == Decision::Allowed;
            let payloads = &self.settings().payloads;
            let excerpt = || payloads.excerpt(&inspected.excerpt());
            record.response = payloads.capture(&emitted, passed).or_else(excerpt);
        }
    }

    /// Which schema judged the result.
    fn judged(&self, inspected: &Inspected, record: &mut Record) {
        if let (Some(judged), Some(route)) = (inspected.judged_by(), &self.route) {
            record.schema_digest = route.tool.schema_digest().map(str::to_owned);
            record.schema_generation = Some(judged.generation);
        }
    }

    fn outcome(&self, conclusion: &Conclusion) -> Outcome {
        let inspected = match conclusion {
            Conclusion::UnknownTool => return Outcome::Rejected,
            Conclusion::Result(inspected) => inspected,
        };
        let before_upstream = match self.refusal {
            Some(Refusal::Internal) => false,
            Some(Refusal::QueueFull) => true,
            _ => (self.route.is_none() && !self.own) || self.is_refused_input(),
        };
        if before_upstream {
            Outcome::Rejected
        } else if self.refusal.is_some()
            || inspected.decision() == Decision::Blocked
            || inspected.is_error()
        {
            Outcome::Error
        } else {
            Outcome::Success
        }
    }

    /// The one decision about the result, whatever the number of its findings.
    fn verdict(&self, inspected: &Inspected) -> Record {
        let mut record =
            self.decision(inspected.decision(), inspected.mode(), inspected.findings());
        record.reason = inspected.reason().map(str::to_owned);
        self.judged(inspected, &mut record);
        record.response_bytes = Some(inspected.received_bytes() as u64);
        record
    }

    fn decision(&self, decision: Decision, mode: Mode, findings: &[Finding]) -> Record {
        let id = self.shared.store.next_id();
        let mut record = Record::decided(id, decision);
        self.fill(&mut record);
        record.parent_id = self.method.recorded_as().map(|_| self.id);
        record.mode = Some(mode);
        record.findings = findings.to_vec();
        record
    }

    fn fill(&self, record: &mut Record) {
        let Common {
            server,
            tool,
            client,
            session,
            request,
        } = self.common.clone();
        record.source = Source::Mcp;
        record.server = server;
        record.tool = tool;
        record.client = client;
        record.session_id = session;
        record.request_id = Some(request);
    }
}

/// Held against the declared schema: it cost work, or it failed without any, as where the schema refers to another document.
/// So what the contract rejects is always a part of what was validated.
fn is_validated(inspected: &Inspected) -> bool {
    let rejected = |finding: &Finding| {
        finding.stage == Stage::Contract && finding.severity >= Severity::Violation
    };
    inspected.fuel_used() > 0 || inspected.findings().iter().any(rejected)
}
