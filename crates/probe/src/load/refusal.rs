//! The texts that this project's gateway sends in place of a result, and how a call that got one
//! of them ended. Without this a blocked result would look like the tool's own error.

use countersign_inspect::Refusal;

use crate::policy::{CallOutcome, ProtocolError};

/// How the text of a blocked result, or of a blocked call, begins.
const BLOCKED: [&str; 3] = [
    "blocked by policy",
    "output schema validation failed: ",
    "input schema validation failed: ",
];

/// How a call ended whose `isError` result has this text, if the gateway wrote it.
pub(super) fn outcome_of_text(text: &str) -> Option<CallOutcome> {
    if BLOCKED.iter().any(|start| text.starts_with(start)) {
        return Some(CallOutcome::Denied);
    }
    Refusal::from_text(text).map(outcome_of_refusal)
}

/// A fault of the server counts as it does without a gateway. Every other refusal is the gateway's own decision.
fn outcome_of_refusal(refusal: Refusal) -> CallOutcome {
    match refusal {
        Refusal::TimedOut { .. } => CallOutcome::Timeout,
        Refusal::Lost | Refusal::Unreachable => CallOutcome::Transport,
        Refusal::Malformed | Refusal::TooLarge { .. } => {
            CallOutcome::ProtocolError(ProtocolError::Malformed)
        }
        _ => CallOutcome::Denied,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use countersign_inspect::{
        ClientEra, Contract, Declaration, Era, Inspected, Mode, Policy, RawReply, Screening,
        SkipReason, Source, examine, examine_arguments,
    };

    use super::*;
    use crate::load::{label, unvalidated_outcome};
    use crate::plan::Expect;

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
        label(unvalidated_outcome(&Ok(message.into()), Expect::Ok))
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
            let sent = examined.conclude(Screening::skipped(SkipReason::NotConfigured));
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
            let sent = Inspected::from_refusal(refusal, ClientEra::Modern);
            assert_eq!(ended(&sent), expected, "{refusal}");
        }
        let unknown = Inspected::unknown_tool("files:raed now", ClientEra::Modern);
        assert_eq!(ended(&unknown), "denied", "{:?}", unknown.answer());
        for own in ["no such file", "the call was cancelled by the user"] {
            assert_eq!(outcome_of_text(own), None, "{own}");
        }
    }
}
