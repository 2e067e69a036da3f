//! The records themselves: one of the call, and one of each decision about it that is not an allowance.

use countersign_audit as audit;
use countersign_audit::{Kind, Outcome, Record, Source};
use countersign_inspect::{
    Decision, Finding, InputVerdict, Inspected, Mode, Refusal, Severity, Stage,
};
use countersign_tape::Span;
use countersign_wire::Method;
use countersign_wire::json::member;

use super::{CommonFields, Ledger};
use crate::path::call::Conclusion;

impl Ledger {
    pub(super) fn records(&self, conclusion: &Conclusion) -> Vec<Record> {
        let mut records: Vec<Record> = self.call(conclusion).into_iter().collect();
        let parent = records.first().map(Record::id);
        if let Some(verdict) = &self.input
            && verdict.decision != Decision::Allowed
        {
            let mut record = self.decision(verdict.decision, verdict.mode, &verdict.findings);
            record.reason.clone_from(&verdict.reason);
            record.parent_id = parent;
            records.push(record);
        }
        if let Some(denied) = &self.denied {
            let finding = Finding::new(Stage::Access, denied.rule, Severity::Violation);
            let mut record = self.decision(Decision::Blocked, Mode::Off, &[finding]);
            record.reason = Some(denied.by.to_string());
            record.parent_id = parent;
            records.push(record);
        }
        // Refused arguments are a decision of their own; there was no result to decide about.
        if let Conclusion::Result(inspected) = conclusion
            && inspected.decision() != Decision::Allowed
            && !self.is_refused_input()
        {
            let mut record = self.verdict(inspected);
            record.parent_id = parent;
            records.push(record);
        }
        records
    }

    fn is_refused_input(&self) -> bool {
        let blocked = |verdict: &InputVerdict| verdict.decision == Decision::Blocked;
        self.input.as_ref().is_some_and(blocked)
    }

    /// The record of the call itself; none of a list that is as it was.
    fn call(&self, conclusion: &Conclusion) -> Option<Record> {
        let kind = recorded_as(self.method)?;
        if kind == Kind::ListChange && !self.is_changed_list(conclusion) {
            return None;
        }
        let mut record = Record::new(self.id, kind, self.outcome(conclusion));
        self.fill(&mut record);
        record.duration_ms = Some(self.started.elapsed().into());
        record.request_bytes = Some(self.request.len() as u64);
        record.mode = Some(self.mode(conclusion));
        match conclusion {
            Conclusion::UnknownTool => record.reason = Some(Refusal::UnknownTool.to_string()),
            Conclusion::LacksScopes(scopes) => {
                record.reason = Some(format!("needs scope {}", scopes.join(" ")));
            }
            Conclusion::NeedsLogin(_) => {
                record.reason = Some("the caller has no login to the server".to_owned());
            }
            Conclusion::Result(inspected) => self.describe(inspected, &mut record),
        }
        let passed = !self.is_refused_input();
        record.request = self.settings.payloads.capture(&self.request, passed);
        Some(record)
    }

    fn is_changed_list(&self, conclusion: &Conclusion) -> bool {
        let (Some(route), Conclusion::Result(inspected)) = (&self.route, conclusion) else {
            return false;
        };
        let Some(page) = inspected.result_digest() else {
            return false;
        };
        let cursor = member(&self.request, Span::whole(&self.request), "cursor");
        let cursor = cursor.map_or(&b""[..], |cursor| cursor.bytes(&self.request));
        let server = route.upstream.name();
        self.services
            .lists
            .is_changed(server, self.method, cursor, page)
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
        if inspected.decision() == Decision::Allowed {
            // Nothing was decided, so what is worth knowing about the texts stands here. Otherwise the decision has all findings.
            let about_text = inspected.findings().iter();
            let about_text = about_text.filter(|finding| finding.stage == Stage::Sanitise);
            record.findings = about_text.cloned().collect();
            // Not a finding of the call: in most configurations nothing follows from it, and filters by stage or rule find
            // what something followed from.
            let mut about_schema = inspected.findings().iter();
            let unvalidated = about_schema.find(|finding| finding.stage == Stage::Contract);
            record.unvalidated = unvalidated.map(|finding| finding.rule.to_string());
        }
        self.judged(inspected, record);
        let digest = match record.kind() {
            Kind::ListChange => inspected.result_digest(),
            _ => inspected.structured_digest().map(|(_, digest)| digest),
        };
        let digest = digest.unwrap_or_else(|| inspected.received_digest());
        record.payload_digest = Some(digest.to_string());
        if self.settings.config.activity.payloads != audit::Payloads::None {
            let emitted = inspected.emitted().into_bytes();
            let passed = inspected.decision() == Decision::Allowed;
            let payloads = &self.settings.payloads;
            let excerpt = || payloads.excerpt(&inspected.excerpt());
            record.response = payloads.capture(&emitted, passed).or_else(excerpt);
        }
    }

    /// Which schema judged the result.
    fn judged(&self, inspected: &Inspected, record: &mut Record) {
        if let (Some(judged), Some(route)) = (inspected.schema_version(), &self.route) {
            record.schema_digest = route.tool.schema_digest().map(str::to_owned);
            record.schema_generation = Some(judged.generation);
        }
    }

    fn outcome(&self, conclusion: &Conclusion) -> Outcome {
        let inspected = match conclusion {
            Conclusion::UnknownTool | Conclusion::LacksScopes(_) | Conclusion::NeedsLogin(_) => {
                return Outcome::Rejected;
            }
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
        let id = self.services.store.next_id();
        let mut record = Record::decided(id, decision);
        self.fill(&mut record);
        record.mode = Some(mode);
        record.findings = findings.to_vec();
        record
    }

    fn fill(&self, record: &mut Record) {
        let CommonFields {
            server,
            tool,
            client,
            caller,
            session,
            request,
        } = &self.common;
        record.source = Source::Mcp;
        record.server = server.as_deref().map(str::to_owned);
        record.tool.clone_from(tool);
        record.client = client.as_deref().map(str::to_owned);
        record.caller = Some(str::to_owned(caller));
        record.session_id = session.as_ref().map(|session| session.public().to_owned());
        record.request_id = Some(request.clone());
    }
}

/// Held against its contract: the schema cost work, or the result broke the contract without any, as by its size or its shape.
/// So what the contract rejects is always a part of what was validated.
fn is_validated(inspected: &Inspected) -> bool {
    inspected.fuel_used() > 0 || inspected.findings().iter().any(Finding::breaks_contract)
}

/// The kind of record for a request of this method. A list is recorded only when it changed.
fn recorded_as(method: Method) -> Option<Kind> {
    Some(match method {
        Method::CallTool => Kind::ToolCall,
        Method::GetPrompt => Kind::PromptGet,
        Method::ReadResource => Kind::ResourceRead,
        Method::Complete => Kind::Completion,
        Method::ListPrompts | Method::ListResources | Method::ListTemplates => Kind::ListChange,
        // Its result is empty; the resource is recorded when it is read.
        Method::Subscribe | Method::Unsubscribe => return None,
    })
}
