//! Arbitrary bytes as a tool, a schema and a reply: a verdict always comes back, and it keeps its promises.
//! The three are separated by lines `---`; the first byte chooses mode, eras and postures.

#![no_main]

use countersign_inspect::config::{Egress, GuardScope, OutputValidation, Posture, Tolerance};
use countersign_inspect::{
    ClientEra, Decision, Declaration, Era, Mode, Policy, RawReply, Screening, Skipped, Source, ToolName,
    examine, examine_arguments,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, data)) = data.split_first() else {
        return;
    };
    let mut parts = split(data);
    let mut part = || parts.next().unwrap_or_default();
    let (tool, schema, reply) = (part(), part(), part());
    let policy = policy(choice);

    let read = Declaration::read(tool);
    let declaration = read.unwrap_or_else(|_| Declaration::new(ToolName::new("t")));
    let declaration = declaration.output_schema(schema.to_vec()).input_schema(schema.to_vec());
    let contract = declaration.capture(&policy.output);
    let verdict = examine_arguments(Some(reply), &contract, &policy);
    assert_eq!(verdict.refusal().is_some(), verdict.decision == Decision::Blocked);

    let era = if choice & 4 == 0 { Era::Modern } else { Era::Legacy };
    let examined = examine(RawReply::new(reply.to_vec(), Source::new(era)), &contract, &policy);
    let provisional = examined.decision();
    let texts = examined.texts().len();
    let inspected = examined.conclude(Screening::skipped(Skipped::NotConfigured));
    assert_eq!(inspected.decision(), provisional);
    if inspected.decision() == Decision::Blocked {
        assert_eq!(texts, 0);
        assert_eq!(inspected.structured_text(), None);
    } else if !inspected.is_changed() {
        assert_eq!(inspected.emitted().into_bytes(), reply);
    }
    let message = inspected.message(b"1").into_bytes();
    assert!(countersign_tape::scan(&message, &countersign_tape::Hard::default()).is_ok());
});

fn split(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(data);
    std::iter::from_fn(move || {
        let here = rest?;
        let at = here.windows(5).position(|window| window == b"\n---\n");
        let (part, next) = match at {
            Some(at) => (&here[..at], Some(&here[at + 5..])),
            None => (here, None),
        };
        rest = next;
        Some(part)
    })
}

fn policy(choice: u8) -> Policy {
    let mode = [Mode::Strict, Mode::Warn, Mode::Off, Mode::Strict][usize::from(choice & 3)];
    let posture = if choice & 8 == 0 { Posture::Allow } else { Posture::Block };
    let tolerance = if choice & 16 == 0 { Tolerance::Reject } else { Tolerance::Allow };
    let mut policy = Policy {
        output: OutputValidation {
            mode,
            missing_structured_content: posture,
            uncompilable_schema: posture,
            duplicate_keys: tolerance,
            external_ref: tolerance,
            guards: if choice & 32 == 0 { GuardScope::Declared } else { GuardScope::Always },
            legacy_egress: Egress::Convert,
            max_depth: 32,
            ..OutputValidation::default()
        },
        client: if choice & 64 == 0 { ClientEra::Legacy } else { ClientEra::Modern },
        ..Policy::default()
    };
    policy.input.mode = mode;
    policy
}
