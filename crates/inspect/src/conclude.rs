//! The second half of inspection: the policy is applied to the findings of all stages, the worst
//! decision wins, and the remaining edits are made. It judges nothing by itself. Stage 4f.

use countersign_tape::Edits;

use crate::authored;
use crate::body::{Body, Original, Piece};
use crate::egress;
use crate::examine::Examined;
use crate::found::Found;
use crate::inspected::Inspected;
use crate::policy::{Overrides, decide};
use crate::screening::Screening;
use crate::verdict::{Decision, Finding};

impl Examined {
    /// Decides, applies and wraps up.
    pub fn conclude(self, screening: Screening) -> Inspected {
        let verdict = Verdict::of(&self, screening);
        let body = if verdict.decision == Decision::Blocked {
            let text = verdict.reason.as_deref().unwrap_or("blocked by policy");
            Body::Authored(authored::error_result(text, self.policy.client))
        } else {
            Body::Forwarded(self.pieces())
        };
        Inspected {
            body,
            decision: verdict.decision,
            mode: self.policy.output.mode,
            findings: verdict.findings,
            reason: verdict.reason,
            fuel_used: self.conformance.fuel_used,
            judged_by: self.judged_by,
            original: Original::new(self.bytes, self.envelope.as_ref()),
            refusal: None,
        }
    }

    /// The edits that remain to be made, as pieces; none means the bytes go as they came.
    fn pieces(&self) -> Vec<Piece> {
        let Some(envelope) = &self.envelope else {
            return Vec::new();
        };
        let (upstream, client) = (self.source.era, self.policy.client);
        let edits = egress::edits(&self.bytes, envelope, upstream, client, &self.policy.output);
        // Stage 4f, labelling text, and the edits of stage 4d join here.
        let edited = edits.map(Edits::apply).and_then(Result::ok);
        edited.map_or_else(Vec::new, |edited| Piece::all(&self.bytes, edited))
    }
}

/// The worst decision and the first sentence that led to it.
struct Verdict {
    decision: Decision,
    reason: Option<String>,
    findings: Vec<Finding>,
}

impl Verdict {
    fn of(examined: &Examined, screening: Screening) -> Self {
        let mode = examined.policy.output.mode;
        let overrides = Overrides::from(&examined.policy.output);
        let mut verdict = Self {
            decision: Decision::Allowed,
            reason: None,
            findings: Vec::new(),
        };
        for found in &examined.found {
            verdict.add(found, decide(&found.finding, mode, &overrides));
        }
        for screened in screening.screened {
            let classifier = screened.action;
            let overrides = Overrides {
                classifier,
                ..overrides
            };
            let found = Found::plain(screened.finding);
            verdict.add(&found, decide(&found.finding, mode, &overrides));
        }
        verdict
    }

    fn add(&mut self, found: &Found, decision: Decision) {
        if decision > self.decision {
            self.decision = decision;
            self.reason = Some(found.sentence.clone());
        }
        self.findings.push(found.finding.clone());
    }
}

#[cfg(test)]
mod tests;
