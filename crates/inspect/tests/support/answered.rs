//! The law for arbitrary bytes as a tool, a schema and a reply: a verdict always comes back, and it keeps its promises.
//! A test feeds it what it generates, the fuzzer what it finds.

use bytes::Bytes;
use countersign_inspect::config::{Egress, GuardScope, OutputValidation, Posture, Tolerance};
use countersign_inspect::{
    ClientEra, Contract, Decision, Declaration, Era, Mode, Policy, RawReply, Screening, SkipReason,
    Source, ToolName, examine, examine_arguments,
};

/// Panics where the law is broken. `choice` sets mode, eras and postures.
pub(crate) fn is_answered(choice: u8, tool: &[u8], schema: &[u8], reply: &[u8]) {
    let policy = policy(choice);
    let read = Declaration::read(tool);
    let declaration = read.unwrap_or_else(|_| Declaration::new(ToolName::new("t")));
    let contract = declaration
        .output_schema(schema.to_vec())
        .input_schema(schema.to_vec())
        .capture(&policy.output);
    let verdict = examine_arguments(Some(reply), &contract, &policy);
    let refused = verdict.refusal().is_some();
    assert_eq!(refused, verdict.decision == Decision::Blocked);
    let era = either(choice, 4, [Era::Modern, Era::Legacy]);
    keeps_its_promises(reply, era, &contract, &policy);
}

fn keeps_its_promises(reply: &[u8], era: Era, contract: &Contract, policy: &Policy) {
    let raw = RawReply::new(reply.to_vec(), Source::new(era));
    let examined = examine(raw, contract, policy);
    let (provisional, texts) = (examined.decision(), examined.texts().len());
    let inspected = examined.conclude(Screening::skipped(SkipReason::NotConfigured));
    assert_eq!(inspected.decision(), provisional);
    if inspected.decision() == Decision::Blocked {
        assert_eq!(texts, 0);
        assert_eq!(inspected.structured_text(), None);
    } else if !inspected.is_changed() {
        assert_eq!(inspected.emitted().into_bytes(), reply);
    }
    let message = inspected.message(&Bytes::from_static(b"1")).into_bytes();
    assert!(countersign_tape::scan(&message, &countersign_tape::ScanLimits::default()).is_ok());
}

/// One of two, as a bit of the choice says.
fn either<T>(choice: u8, bit: u8, [unset, set]: [T; 2]) -> T {
    if choice & bit == 0 { unset } else { set }
}

fn policy(choice: u8) -> Policy {
    let mode = [Mode::Strict, Mode::Warn, Mode::Off, Mode::Strict][usize::from(choice & 3)];
    let posture = either(choice, 8, [Posture::Allow, Posture::Block]);
    let tolerance = either(choice, 16, [Tolerance::Reject, Tolerance::Allow]);
    let mut policy = Policy {
        output: OutputValidation {
            mode,
            missing_structured_content: posture,
            uncompilable_schema: posture,
            duplicate_keys: tolerance,
            external_ref: tolerance,
            guards: either(choice, 32, [GuardScope::Declared, GuardScope::Always]),
            legacy_egress: Egress::Convert,
            max_depth: 32,
            ..OutputValidation::default()
        },
        client: either(choice, 64, [ClientEra::Legacy, ClientEra::Modern]),
        ..Policy::default()
    };
    policy.input.mode = mode;
    policy
}
