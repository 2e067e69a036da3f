//! The second half of inspection: applies the policy to the findings of all stages, takes the worst
//! decision, and makes the edits.

use crate::emit::authored;
use crate::emit::body::{Body, Original, Piece};
use crate::emit::boundary::{self, WrappedTexts};
use crate::emit::egress::{self, Conversion};
use crate::emit::inspected::Inspected;
use crate::emit::randomness::{NoRandomness, Randomness};
use crate::examine::Examined;
use crate::judge::decide::{Overrides, decide};
use crate::judge::reason::{blocked_text, reason};
use crate::open::message::MessageKind;
use crate::screen::screening::Screening;
use crate::verdict::explained::ExplainedFinding;
use crate::verdict::{Decision, Finding, Mode, Severity};

impl Examined {
    /// Decides, applies and wraps up, without randomness: a result that is to be put between boundaries is refused.
    pub fn conclude(self, screening: Screening) -> Inspected {
        self.conclude_with(screening, &NoRandomness)
    }

    /// Decides, applies and wraps up, with nonces from `randomness` where texts are put between boundaries.
    pub fn conclude_with(self, screening: Screening, randomness: &dyn Randomness) -> Inspected {
        let mut verdict = Verdict::from_findings(&self, screening);
        let mut pieces = Vec::new();
        if verdict.decision != Decision::Blocked {
            pieces = self.pieces(randomness, &mut verdict);
        }
        let reason = verdict.reason();
        let answer = (verdict.decision == Decision::Blocked).then(|| {
            let reason = reason.as_deref().unwrap_or("blocked by policy");
            blocked_text(reason, verdict.cause(), &self.tool)
        });
        let body = match &answer {
            Some(text) => Body::Authored(authored::error_result(text, self.policy.client)),
            None => Body::Forwarded(pieces),
        };
        let envelope = self.is_message.then_some(&self.envelope);
        Inspected {
            body,
            decision: verdict.decision,
            mode: self.policy.output.mode,
            findings: verdict.findings,
            reason,
            answer,
            fuel_used: self.conformance.fuel_used,
            judged_by: self.judged_by,
            cleaning: self.cleaning,
            original: Original::new(self.bytes, envelope),
            refusal: None,
        }
    }

    /// The edits that remain to be made, as pieces; none means the bytes go as they came.
    fn pieces(&self, randomness: &dyn Randomness, verdict: &mut Verdict) -> Vec<Piece> {
        let Some(envelope) = self.envelope() else {
            return Vec::new();
        };
        let (upstream, client, config) = (self.source.era, self.policy.client, &self.policy.output);
        let conversion = Conversion::plan(&self.bytes, envelope, upstream, client, config);
        let has_foreign_members = MessageKind::Response.has_foreign_members(envelope);
        // Nearly always: nothing was cleaned, and the client reads what the upstream writes.
        if self.cleaning.is_none() && conversion.is_none() && !has_foreign_members {
            return Vec::new();
        }
        let (sanitisation, cleaning) = (&self.policy.sanitisation, self.cleaning.as_deref());
        let WrappedTexts { changes, mut found } =
            boundary::wrap_texts(&self.bytes, sanitisation, cleaning, randomness);
        let moved = egress::value_to_move(&self.bytes, envelope, conversion, config);
        let moved = moved.map(|value| {
            boundary::wrap_moved_value(value, sanitisation, cleaning, randomness, &mut found)
        });
        verdict.add_all(&found);
        let mut edits =
            egress::conversion_edits(&self.bytes, envelope, conversion, moved.as_deref());
        changes.apply(&self.bytes, &mut edits);
        if has_foreign_members {
            MessageKind::Response.cut_foreign_members(&self.bytes, envelope.root(), &mut edits);
        }
        let rewritten = cleaning.and_then(|cleaning| cleaning.structured.as_ref());
        if let (Some(value), Some(rewritten)) = (envelope.structured_content(), rewritten)
            && !conversion.drops_structured
        {
            edits.replace(value, rewritten.to_vec());
        }
        if edits.is_empty() {
            return Vec::new();
        }
        if let Ok(edited) = edits.apply() {
            return Piece::from_edited(&self.bytes, edited);
        }
        // Not expected. What cannot be changed as decided does not leave unchanged.
        verdict.refuse();
        Vec::new()
    }
}

/// The worst decision, the first finding that led to it, and all findings.
struct Verdict {
    mode: Mode,
    overrides: Overrides,
    decision: Decision,
    deciding: Option<ExplainedFinding>,
    /// The result could not be changed as decided.
    uneditable: bool,
    findings: Vec<Finding>,
}

impl Verdict {
    fn from_findings(examined: &Examined, screening: Screening) -> Self {
        let mut verdict = Self {
            mode: examined.policy.output.mode,
            overrides: Overrides::from(&examined.policy.output),
            decision: Decision::Allowed,
            deciding: None,
            uneditable: false,
            findings: Vec::new(),
        };
        verdict.add_all(&examined.found);
        for screened in screening.screened {
            let overrides = Overrides {
                classifier: screened.action,
                ..verdict.overrides
            };
            verdict.add(
                &ExplainedFinding::without_sentence(screened.finding),
                overrides,
            );
        }
        verdict
    }

    fn add_all(&mut self, found: &[ExplainedFinding]) {
        for found in found {
            self.add(found, self.overrides);
        }
    }

    /// Refuses the result for a reason of our own.
    fn refuse(&mut self) {
        self.decision = Decision::Blocked;
        self.uneditable = true;
    }

    /// One sentence about the decision, which has to be the last one.
    fn reason(&self) -> Option<String> {
        if self.uneditable {
            return Some("blocked by policy: the result could not be edited".to_owned());
        }
        let found = self.cause()?;
        Some(reason(self.decision, found, &self.findings))
    }

    /// The finding that led to the decision; none if the result could not be changed as decided.
    fn cause(&self) -> Option<&ExplainedFinding> {
        self.deciding.as_ref().filter(|_| !self.uneditable)
    }

    fn add(&mut self, found: &ExplainedFinding, overrides: Overrides) {
        let decision = decide(&found.finding, self.mode, &overrides);
        let mut finding = found.finding.clone();
        if decision == Decision::Blocked {
            // What an operator does not let pass is more than worth knowing: it counts as a rejection.
            finding.severity = finding.severity.max(Severity::Violation);
        }
        self.findings.push(finding);
        if decision > self.decision {
            self.decision = decision;
            self.deciding = Some(found.clone());
        }
    }
}

#[cfg(test)]
mod tests;
