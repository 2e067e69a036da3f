//! What answers are held to: the contracts of the tools and the policy of the plan, and what one
//! call comes to under both.

use std::time::Duration;

use crate::judge::{Judge, Violation};
use crate::load::outcome;
use crate::load::sample::Sample;
use crate::plan::Expect;
use crate::policy::{AppliedPolicy, CallOutcome, Date, SchemaPolicy, Site, Validation};
use crate::report::{Occurrence, Violations, now_ms};

/// What answers are checked against: the judge, the policy of the plan, and the day that overrides are compared with.
#[derive(Debug)]
pub(in crate::load) struct ValidationRules {
    pub(in crate::load) judge: Judge,
    pub(in crate::load) validation: Validation,
    pub(in crate::load) today: Date,
    /// The server, as it names itself.
    pub(in crate::load) server: String,
    /// The plan's tools.
    pub(in crate::load) tools: Vec<String>,
    pub(in crate::load) warm_up: Duration,
    /// How long a stretch of the timeline is.
    pub(in crate::load) stretch: Duration,
}

impl ValidationRules {
    /// The name of one of the plan's tools; empty for what is about the server.
    pub(in crate::load) fn tool(&self, number: usize) -> &str {
        self.tools.get(number).map_or("", String::as_str)
    }

    pub(super) fn judge(&self, sample: &Sample) -> JudgedCall {
        let tool = self.tool(sample.tool);
        let mut judged = match &sample.answer {
            Err(fault) => JudgedCall {
                outcome: outcome::fault_outcome(*fault),
                violations: Vec::new(),
            },
            Ok(message) => {
                let judgement = self.judge.reply(tool, message.clone());
                let (answered, applied) = judgement.outcome(tool, &self.validation, self.today);
                let outcome = outcome::recognise_refusal(answered, message, sample.expect);
                // Not the server's answer, so nothing of the server's contract is broken by it.
                let is_servers = outcome == answered;
                let violations = judgement.violations.into_iter().zip(applied);
                JudgedCall {
                    outcome,
                    violations: violations.filter(|_| is_servers).collect(),
                }
            }
        };
        if judged.outcome == CallOutcome::Denied && sample.expect != Expect::Deny {
            judged.add(self, tool, Violation::of_site(Site::Denied));
        }
        if let Some(arguments) = &sample.arguments
            && let Some(violation) = self.authored(tool, arguments)
        {
            judged.add(self, tool, violation);
        }
        judged
    }

    /// What the tool's input schema has against arguments that the plan makes.
    pub(in crate::load) fn authored(&self, tool: &str, arguments: &[u8]) -> Option<Violation> {
        let findings = self.judge.arguments(tool, arguments);
        let site = Site::Authored;
        (!findings.is_empty()).then_some(Violation { site, findings })
    }

    /// Writes a violation down.
    pub(in crate::load) fn record(
        &self,
        violations: &mut Violations,
        tool: usize,
        violation: &Violation,
        applied: &AppliedPolicy,
    ) {
        let name = self.tool(tool);
        let digest = self.judge.output_digest(name);
        let digest = digest.map(|digest| digest.to_string());
        violations.add(&Occurrence {
            server: &self.server,
            tool: name,
            site: self.validation.refined(violation.site, &violation.findings),
            findings: &violation.findings,
            applied,
            schema: digest.as_deref(),
            now_ms: now_ms(),
        });
    }

    /// What is done about a violation.
    pub(in crate::load) fn apply(&self, tool: &str, violation: &Violation) -> AppliedPolicy {
        let Violation { site, findings } = violation;
        self.validation.apply(tool, *site, findings, self.today)
    }
}

/// The outcome of a call and its violations.
pub(super) struct JudgedCall {
    pub(super) outcome: CallOutcome,
    pub(super) violations: Vec<(Violation, AppliedPolicy)>,
}

impl JudgedCall {
    fn add(&mut self, rules: &ValidationRules, tool: &str, violation: Violation) {
        let applied = rules.apply(tool, &violation);
        if applied.policy == SchemaPolicy::Fail {
            self.outcome = CallOutcome::violation(violation.site);
        }
        self.violations.push((violation, applied));
    }
}
