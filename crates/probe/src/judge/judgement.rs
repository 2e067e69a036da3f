//! Everything there is to say about one reply: the findings of an inspection, and of what inspection
//! leaves alone, each at its row of the policy table.

use countersign_inspect::{
    Contract, DeclaredSchema, Era, Examined, Finding, Screening, Severity, SkipReason, Stage,
};
use countersign_schema::{Fuel, Outcome};
use countersign_tape::{Limits, Tape};

use super::reply_facts::ReplyFacts;
use super::violation::Violation;
use crate::policy::{
    AppliedPolicy, CallOutcome, Date, ProtocolError, SchemaPolicy, Site, Validation,
};

/// Violations of one reply that are kept, at most.
const MAX_VIOLATIONS: usize = 128;

/// Everything there is to say about one reply.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Violations of the contract, by site.
    pub violations: Vec<Violation>,
    /// Why it is not an answer MCP allows, if it is not.
    pub malformed: Vec<Finding>,
    /// What the reply says about itself.
    pub answer: ReplyFacts,
}

impl Judgement {
    /// The outcome of the call and what is done about each violation.
    pub fn outcome(
        &self,
        tool: &str,
        validation: &Validation,
        today: Date,
    ) -> (CallOutcome, Vec<AppliedPolicy>) {
        let violations = self.violations.iter();
        let apply = |one: &Violation| validation.apply(tool, one.site, &one.findings, today);
        let applied: Vec<AppliedPolicy> = violations.clone().map(apply).collect();
        let mut judged = violations.zip(&applied);
        let gating = judged.find(|(_, applied)| applied.policy == SchemaPolicy::Fail);
        let outcome = if !self.malformed.is_empty() {
            CallOutcome::ProtocolError(ProtocolError::Malformed)
        } else if let Some(code) = self.answer.error_code {
            CallOutcome::ProtocolError(ProtocolError::Rpc { code })
        } else if let Some((violation, _)) = gating {
            CallOutcome::violation(validation.refined(violation.site, &violation.findings))
        } else if self.answer.is_error {
            CallOutcome::ToolError
        } else {
            CallOutcome::Success
        };
        (outcome, applied)
    }

    fn push(&mut self, violation: Violation) {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(violation);
        }
    }

    pub(super) fn read_findings(&mut self, examined: Examined) {
        let inspected = examined.conclude(Screening::skipped(SkipReason::NotConfigured));
        let mut mismatches = Vec::new();
        for finding in inspected.findings() {
            match (finding.stage, finding.rule.as_ref()) {
                // Members of its own at the top level of a reply do no harm to a client.
                (Stage::Transport, "transport.foreign_member")
                    if finding.severity == Severity::Info => {}
                (Stage::Transport | Stage::Shape, _) => self.malformed.push(finding.clone()),
                (Stage::Guard, _) | (Stage::Contract, "contract.exhausted") => {
                    self.push(Violation::new(Site::Guard, vec![finding.clone()]));
                }
                (Stage::Contract, "contract.missing") => {
                    self.push(Violation::new(Site::Missing, vec![finding.clone()]));
                }
                // An unenforceable schema is said once, when the tool is declared.
                (Stage::Contract, "contract.uncompilable" | "contract.external_ref")
                | (Stage::Sanitise | Stage::Classify | Stage::Input | Stage::Access, _) => {}
                (Stage::Contract, _) => mismatches.push(finding.clone()),
            }
        }
        if !mismatches.is_empty() {
            let site = Site::Result.refine(&mismatches);
            self.push(Violation::new(site, mismatches));
        }
    }

    /// Row 7: it conforms as long as formats are annotations, and not when they are asserted.
    pub(super) fn read_formats(&mut self, examined: Examined) {
        let inspected = examined.conclude(Screening::skipped(SkipReason::NotConfigured));
        let contract = inspected.findings().iter();
        let findings: Vec<Finding> = contract
            .filter(|finding| finding.rule.starts_with("schema."))
            .cloned()
            .collect();
        let known = self.violations.iter().any(|one| one.site == Site::Extra);
        if !findings.is_empty() && !known {
            self.push(Violation::new(Site::Format, findings));
        }
    }

    /// Row 12: the text beside the structured content.
    pub(super) fn read_mirror(&mut self, examined: &Examined, era: Era, bytes: &[u8]) {
        let absent = era == Era::Legacy && self.answer.structured(bytes) == Some(b"null");
        if absent {
            return;
        }
        let Some(mirror) = examined.mirror().filter(|_| !self.answer.is_error) else {
            return;
        };
        if !self.answer.is_final || mirror.repeats {
            return;
        }
        let site = if mirror.is_object || mirror.has_text {
            Site::Differs
        } else {
            Site::Unmirrored
        };
        self.push(Violation::of_site(site));
    }

    /// Rows 9 to 11, which inspection has no finding for because nothing is to be done about them.
    pub(super) fn read_rest(&mut self, contract: &Contract, era: Era, bytes: &[u8]) {
        if !self.malformed.is_empty() || self.answer.error_code.is_some() {
            return;
        }
        let structured = self.answer.structured(bytes);
        if !self.answer.is_final {
            self.push(Violation::of_site(Site::Unfinished));
        } else if self.answer.is_error {
            let missing = Finding::new(Stage::Contract, "contract.missing", Severity::Info);
            let findings = match (contract.output(), structured) {
                (None, _) => Vec::new(),
                (Some(_), None) => vec![missing],
                (Some(declared), Some(value)) => mismatches(declared, value),
            };
            if !findings.is_empty() {
                self.push(Violation::new(Site::ErrorResult, findings));
            }
        } else if contract.output().is_none() && structured.is_some() {
            let null = era == Era::Legacy && structured == Some(b"null");
            if !null {
                self.push(Violation::of_site(Site::Undeclared));
            }
        }
    }
}

/// What the schema of a tool has against a value of an `isError` result. For counting only.
fn mismatches(declared: &DeclaredSchema, value: &[u8]) -> Vec<Finding> {
    let (Ok(schema), Ok(tape)) = (declared.schema(), Tape::parse(value, &Limits::default())) else {
        return Vec::new();
    };
    let mut fuel = Fuel::for_instance(&tape, 1.0);
    let Outcome::Invalid(violations) = schema.validate(&tape, &mut fuel) else {
        return Vec::new();
    };
    let findings = violations.iter().map(|violation| {
        let rule = format!("schema.{}", violation.keyword());
        Finding::new(Stage::Contract, rule, Severity::Info)
            .with_schema_pointer(violation.schema_pointer())
            .expecting(violation.expected(), violation.actual())
    });
    findings.collect()
}
