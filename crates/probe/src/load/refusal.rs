//! The texts that this project's gateway sends in place of a result, and how a call that got one
//! of them ended. Without this table a blocked result would look like the tool's own error.

use countersign_inspect::{Refusal, Router};

use crate::policy::{CallOutcome, ProtocolError};

/// How the text of a blocked result, or of a blocked call, begins.
const BLOCKED: [&str; 3] = [
    "blocked by policy",
    "output schema validation failed: ",
    "input schema validation failed: ",
];

/// Refusals that mean what the same fault means without a gateway.
const FAULTS: [(Refusal, CallOutcome); 5] = [
    (Refusal::TimedOut { after_ms: 0 }, CallOutcome::Timeout),
    (Refusal::Lost, CallOutcome::Transport),
    (Refusal::Unreachable, CallOutcome::Transport),
    (
        Refusal::Malformed,
        CallOutcome::ProtocolError(ProtocolError::Malformed),
    ),
    (
        Refusal::TooLarge { limit: 0 },
        CallOutcome::ProtocolError(ProtocolError::Malformed),
    ),
];

/// Refusals of the gateway itself.
const DENIALS: [Refusal; 14] = [
    Refusal::QueueFull,
    Refusal::Busy,
    Refusal::Disabled,
    Refusal::UnknownTool,
    Refusal::WrongRouter {
        instead: Router::Read,
    },
    Refusal::WrongRouter {
        instead: Router::Write,
    },
    Refusal::WrongRouter {
        instead: Router::Destructive,
    },
    Refusal::BadArguments,
    Refusal::Cancelled,
    Refusal::Unrecorded,
    Refusal::ShuttingDown,
    Refusal::Expired,
    Refusal::Unsupported,
    Refusal::Internal,
];

/// How a call ended whose `isError` result has this text, if the gateway wrote it.
pub(super) fn outcome_of_text(text: &str) -> Option<CallOutcome> {
    if BLOCKED.iter().any(|start| text.starts_with(start)) {
        return Some(CallOutcome::Denied);
    }
    let fault = FAULTS
        .iter()
        .find(|(refusal, _)| is_text_of(*refusal, text));
    let denied = || {
        let mut denials = DENIALS.iter();
        denials.any(|refusal| is_text_of(*refusal, text))
    };
    fault
        .map(|(_, outcome)| *outcome)
        .or_else(|| denied().then_some(CallOutcome::Denied))
}

/// Whether a text is the one of a refusal, whatever number stands in it.
fn is_text_of(refusal: Refusal, text: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let known = refusal.to_string();
    match known.split_once(is_digit) {
        None => known == text,
        Some((before, after)) => text
            .strip_prefix(before)
            .and_then(|rest| rest.trim_start_matches(is_digit).strip_prefix(after))
            .is_some_and(str::is_empty),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use countersign_inspect::{
        ClientEra, Contract, Declaration, Era, Inspected, Mode, Policy, RawReply, Screening,
        Skipped, Source, examine, examine_arguments,
    };

    use super::*;
    use crate::load::{label, outcome_of};

    const TOOL: &str = r#"{"name":"t","inputSchema":{"type":"object","required":["q"]},"outputSchema":{"type":"object","required":["n"]}}"#;

    fn strict() -> (Contract, Policy) {
        let mut policy = Policy::default();
        policy.output.mode = Mode::Strict;
        policy.input.mode = Mode::Strict;
        let declaration = Declaration::read(TOOL.as_bytes()).expect("a tool");
        (declaration.capture(&policy.output), policy)
    }

    fn ended(sent: &Inspected) -> String {
        let message = sent.message(&Bytes::from_static(b"1")).parts().concat();
        label(outcome_of(Ok(&message)))
    }

    #[test]
    fn what_the_gateway_blocks_is_denied_in_whichever_words() {
        let (contract, policy) = strict();
        for result in [
            r#"{"content":[],"structuredContent":{}}"#,
            r#"{"content":7,"structuredContent":{"n":1}}"#,
            "{",
        ] {
            let reply = RawReply::new(result.as_bytes().to_vec(), Source::new(Era::Modern));
            let examined = examine(reply, &contract, &policy);
            let sent = examined.conclude(Screening::skipped(Skipped::NotConfigured));
            assert_eq!(ended(&sent), "denied", "{result}: {:?}", sent.reason());
        }
        let input = examine_arguments(Some(b"{}"), &contract, &policy);
        let sent = input.refusal().expect("the arguments are refused");
        assert_eq!(ended(&sent), "denied", "{:?}", input.reason);
    }

    #[test]
    fn a_refusal_of_the_gateway_is_not_the_tools_error() {
        let refusals = [
            (Refusal::TimedOut { after_ms: 60_000 }, "timeout"),
            (Refusal::Lost, "transport"),
            (Refusal::TooLarge { limit: 5 }, "protocol_error/malformed"),
            (Refusal::Busy, "denied"),
            (Refusal::Disabled, "denied"),
            (Refusal::Internal, "denied"),
        ];
        for (refusal, expected) in refusals {
            let sent = Inspected::authored(refusal, ClientEra::Modern);
            assert_eq!(ended(&sent), expected, "{refusal}");
        }
        for own in ["no such file", "the call was cancelled by the user"] {
            assert_eq!(outcome_of_text(own), None, "{own}");
        }
    }
}
