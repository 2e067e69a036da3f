//! Validates `structuredContent` against the captured schema. The first of these that applies ends the
//! stage: no schema declared, `isError`, no value, a guard exceeded, a schema that cannot be enforced, a
//! violation. The value is read in place and never changed.

use countersign_schema::{Fuel, Outcome, Schema, Unenforceable};
use countersign_tape::{Envelope, Kind, Limits, Member, ReadValue, Span, Tape, ValueReader};

use super::{Contract, DeclaredSchema};
use crate::config::{GuardScope, OutputValidation, Tolerance};
use crate::era::Era;
use crate::json::scratch::with_tape;
use crate::judge::guards;
use crate::open::transport::OpenedReply;
use crate::text::long_for_record;
use crate::verdict::explained::{ExplainedFinding, MAX_FINDINGS, ViolationContext};
use crate::verdict::{Finding, Severity, Stage};

/// The result of validation, beside its findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conformance {
    /// The value was judged by the schema and conforms.
    pub(crate) conforms: bool,
    /// Units of work the judgement cost.
    pub(crate) fuel_used: u64,
}

/// Judges `structuredContent` while the message is scanned, where that settles it: a value that conforms, with no name twice.
#[derive(Debug)]
pub(crate) struct ConformanceReader<'s> {
    schema: &'s Schema,
    fuel_factor: f64,
    /// The last value that was settled: where it stands, and the fuel it took.
    settled: Option<(Span, u64)>,
}

impl<'s> ConformanceReader<'s> {
    /// A reader for results of this contract, if its schema can be enforced.
    pub(crate) fn new(contract: &'s Contract, config: &OutputValidation) -> Option<Self> {
        Some(Self {
            schema: contract.output()?.schema().ok()?,
            fuel_factor: config.fuel_factor,
            settled: None,
        })
    }

    /// What is known of the value at this place.
    fn conformance(&self, value: Option<Span>) -> Option<Conformance> {
        let (settled, fuel_used) = self.settled?;
        (value == Some(settled)).then_some(Conformance {
            conforms: true,
            fuel_used,
        })
    }
}

impl ValueReader for ConformanceReader<'_> {
    fn read(&mut self, text: &str, at: usize, max_depth: u32) -> Option<ReadValue> {
        let schema = self.schema;
        let read = schema.read_conforming(text, at, max_depth, self.fuel_factor)?;
        let span = Span::new(u32::try_from(at).ok()?, u32::try_from(read.end).ok()?);
        self.settled = Some((span, read.fuel_used));
        Some(ReadValue {
            end: read.end,
            depth: read.depth,
        })
    }
}

/// Reports where a scanned result breaks its contract. `reader` was at work while it was scanned.
pub(crate) fn check(
    opened: &OpenedReply<'_, '_>,
    era: Era,
    (contract, reader): (&Contract, Option<&ConformanceReader<'_>>),
    config: &OutputValidation,
    found: &mut Vec<ExplainedFinding>,
) -> Conformance {
    let OpenedReply { text, envelope, .. } = opened;
    let bytes = text.as_bytes();
    let Some(declared) = contract.output() else {
        if config.guards == GuardScope::Always && envelope.is_error(bytes) != Some(true) {
            found.extend(guards::check(envelope, config));
        }
        return Conformance::default();
    };
    if envelope.is_error(bytes) == Some(true) {
        return Conformance::default();
    }
    let Some(value) = value_to_validate(text, envelope, era) else {
        found.extend(missing_finding(bytes, envelope, era));
        return Conformance::default();
    };
    // Guards come before the schema: the schema was chosen by the server that the guards limit.
    if let Some(breach) = guards::check(envelope, config) {
        found.push(breach);
        return Conformance::default();
    }
    let schema = match declared.schema() {
        Ok(schema) => schema,
        Err(why) => {
            found.push(not_enforceable(why, config));
            return Conformance::default();
        }
    };
    let context = ViolationContext {
        stage: Stage::Contract,
        tool: contract.tool(),
        schema,
    };
    if let Some(known) = reader.and_then(|reader| reader.conformance(envelope.structured_content()))
    {
        return known;
    }
    if let Some(tape) = &opened.tapes.structured {
        return validate(tape, &context, config, found);
    }
    // The message was too long to be laid out as it was scanned.
    with_tape(value, &config.value_limits(), |tape| {
        validate(tape, &context, config, found)
    })
    .unwrap_or_else(|_| {
        // Scanned and within the guards, so it parses. If it does not, it has not been validated.
        found.push(exhausted());
        Conformance::default()
    })
}

/// Validates a cleaned value again. A value that did not conform as received has its findings already.
pub(crate) fn check_cleaned(
    received: &str,
    cleaned: &str,
    contract: &Contract,
    config: &OutputValidation,
    found: &mut Vec<ExplainedFinding>,
) {
    let Some(Ok(schema)) = contract.output().map(DeclaredSchema::schema) else {
        return;
    };
    let context = ViolationContext {
        stage: Stage::Contract,
        tool: contract.tool(),
        schema,
    };
    let violations_of = |value, limits: &Limits| {
        with_tape(value, limits, |tape| {
            let mut violations = Vec::new();
            validate(tape, &context, config, &mut violations);
            violations
        })
    };
    let within = config.value_limits();
    if !violations_of(received, &within).is_ok_and(|violations| violations.is_empty()) {
        return;
    }
    // Placeholders may make a value longer than the guard allows, which is no fault of the server's.
    let any_length = Limits {
        max_bytes: usize::MAX,
        ..within
    };
    let violations = violations_of(cleaned, &any_length).unwrap_or_else(|_| vec![exhausted()]);
    found.extend(violations.into_iter().map(|mut violation| {
        let detail = "the value conformed until control tokens were taken out of it";
        violation.finding = violation.finding.detail(detail);
        violation
    }));
}

/// The value to judge. Until 2025-11-25 `null` is how some servers say that there is none.
fn value_to_validate<'a>(text: &'a str, envelope: &Envelope, era: Era) -> Option<&'a str> {
    let value = envelope.structured_content()?;
    let absent = era == Era::Legacy && value.kind(text.as_bytes()) == Some(Kind::Null);
    (!absent).then(|| text.get(value.range())).flatten()
}

/// Reports missing `structuredContent`. A result that is not complete yet may lack it.
fn missing_finding(bytes: &[u8], envelope: &Envelope, era: Era) -> Option<ExplainedFinding> {
    let kind = envelope
        .get(Member::ResultType)
        .and_then(|kind| kind.string(bytes));
    if era == Era::Modern && kind.is_some_and(|kind| kind != "complete") {
        return None;
    }
    let finding = Finding::new(Stage::Contract, "contract.missing", Severity::Info)
        .with_instance_pointer("/structuredContent")
        .expecting("structuredContent", "nothing");
    let what = "structuredContent missing";
    Some(ExplainedFinding::contract(finding, what))
}

fn not_enforceable(why: &Unenforceable, config: &OutputValidation) -> ExplainedFinding {
    let detail = long_for_record(&why.to_string());
    if why.is_external_ref() && config.external_ref == Tolerance::Reject {
        let rule = "contract.external_ref";
        let finding = Finding::new(Stage::Contract, rule, Severity::Violation).detail(detail);
        let what = "the declared schema has an external reference";
        return ExplainedFinding::contract(finding, what);
    }
    let finding =
        Finding::new(Stage::Contract, "contract.uncompilable", Severity::Info).detail(detail);
    ExplainedFinding::contract(finding, "the declared schema cannot be enforced")
}

fn exhausted() -> ExplainedFinding {
    let finding = Finding::new(Stage::Contract, "contract.exhausted", Severity::Violation)
        .detail("judging the value would cost more than it may");
    ExplainedFinding::contract(finding, "validating the value costs more than it may")
}

fn validate(
    tape: &Tape<'_>,
    context: &ViolationContext<'_>,
    config: &OutputValidation,
    found: &mut Vec<ExplainedFinding>,
) -> Conformance {
    let before = found.len();
    if config.duplicate_keys == Tolerance::Reject {
        let keys = tape.duplicate_keys().iter().take(MAX_FINDINGS);
        found.extend(keys.map(|key| ExplainedFinding::duplicate_key(&tape.pointer(*key))));
    }
    let fuel_used = apply_schema(tape, context, config.fuel_factor, exhausted, found);
    Conformance {
        conforms: found.len() == before,
        fuel_used,
    }
}

/// Reports where a value breaks a schema; gives the units of work it cost.
pub(crate) fn apply_schema(
    tape: &Tape<'_>,
    context: &ViolationContext<'_>,
    fuel_factor: f64,
    exhausted: impl FnOnce() -> ExplainedFinding,
    found: &mut Vec<ExplainedFinding>,
) -> u64 {
    let mut fuel = Fuel::for_instance(tape, fuel_factor);
    match context.schema.validate(tape, &mut fuel) {
        Outcome::Valid => {}
        Outcome::Invalid(violations) => {
            let explain = |violation| ExplainedFinding::violation(violation, context);
            found.extend(violations.iter().map(explain));
        }
        Outcome::Exhausted => found.push(exhausted()),
    }
    fuel.used()
}
