//! A call's arguments against the declared `inputSchema`, before anything is forwarded. Warn
//! never changes a call; strict answers in words the model can repair its call with.

use countersign_schema::Unenforceable;
use countersign_tape::Limits;

use crate::emit::inspected::Inspected;
use crate::era::ClientEra;
use crate::json::scratch::with_tape;
use crate::judge::contract::{Contract, apply_schema};
use crate::judge::decide::{Overrides, decide};
use crate::judge::reason::reason;
use crate::policy::Policy;
use crate::text::long_for_record;
use crate::verdict::explained::{ExplainedFinding, ViolationContext};
use crate::verdict::{Decision, Finding, Mode, Severity, Stage};

/// What was decided about a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputVerdict {
    /// Whether the call may go on.
    pub decision: Decision,
    /// The mode in force.
    pub mode: Mode,
    /// What was found, all of stage `input`.
    pub findings: Vec<Finding>,
    /// One sentence: why the decision is not `allowed`.
    pub reason: Option<String>,
    /// Units of work the schema cost.
    pub fuel_used: u64,
    client: ClientEra,
}

impl InputVerdict {
    /// The answer to a blocked call; `None` if the call may go on.
    pub fn refusal(&self) -> Option<Inspected> {
        let reason = self.reason.as_deref().unwrap_or("blocked by policy");
        (self.decision == Decision::Blocked).then(|| Inspected::refused_input(reason, self.client))
    }
}

/// Judges a call's arguments, given as JSON text. Absent arguments are an empty object.
pub fn examine_arguments(
    arguments: Option<&[u8]>,
    contract: &Contract,
    policy: &Policy,
) -> InputVerdict {
    let mut verdict = InputVerdict {
        decision: Decision::Allowed,
        mode: policy.input.mode,
        findings: Vec::new(),
        reason: None,
        fuel_used: 0,
        client: policy.client,
    };
    if policy.input.mode == Mode::Off {
        return verdict;
    }
    let mut found = Vec::new();
    verdict.fuel_used = check(arguments.unwrap_or(b"{}"), contract, policy, &mut found);
    let overrides = Overrides::from(&policy.output);
    for found in found {
        let decision = decide(&found.finding, policy.input.mode, &overrides);
        if decision > verdict.decision {
            verdict.decision = decision;
            verdict.reason = Some(reason(decision, &found, &[]));
        }
        verdict.findings.push(found.finding);
    }
    verdict
}

fn check(
    arguments: &[u8],
    contract: &Contract,
    policy: &Policy,
    found: &mut Vec<ExplainedFinding>,
) -> u64 {
    let Some(declared) = contract.input() else {
        return 0;
    };
    let schema = match declared.schema() {
        Ok(schema) => schema,
        Err(why) => {
            found.extend(external(why));
            return 0;
        }
    };
    let limits = Limits {
        max_bytes: policy.max_message_bytes,
        max_depth: u32::MAX,
    };
    // What is not UTF-8 is not JSON either, and neither is the empty text.
    let arguments = std::str::from_utf8(arguments).unwrap_or_default();
    let context = ViolationContext {
        stage: Stage::Input,
        tool: contract.tool(),
        schema,
    };
    let exhausted = || {
        let what = "judging the arguments costs more than it may";
        input_finding("exhausted", what)
    };
    let judged = with_tape(arguments, &limits, |tape| {
        apply_schema(tape, &context, 1.0, exhausted, found)
    });
    judged.unwrap_or_else(|_| {
        found.push(input_finding("type", "the arguments are not JSON"));
        0
    })
}

/// A schema that does not compile is the operator's business, once. One that refers to another
/// document is not treated as permissive.
fn external(why: &Unenforceable) -> Option<ExplainedFinding> {
    why.is_external_ref().then(|| {
        let mut found = input_finding("$ref", "the declared schema has an external reference");
        found.finding.detail = Some(long_for_record(&why.to_string()));
        found
    })
}

fn input_finding(keyword: &'static str, what: &str) -> ExplainedFinding {
    let rule = format!("input.schema.{keyword}");
    let finding = Finding::new(Stage::Input, rule, Severity::Violation).detail(what);
    ExplainedFinding::with_sentence(finding, format!("input schema validation failed: {what}"))
}
