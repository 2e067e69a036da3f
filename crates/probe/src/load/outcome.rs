//! How one call ended, from its exchange and the judgement of its answer, if there is one.

use super::refusal::outcome_of_text;
use crate::client::Fault;
use crate::judge::{Answer, texts};
use crate::plan::Expect;
use crate::policy::{CallOutcome, ProtocolError};

/// The outcome of a call whose answer is not validated.
pub(crate) fn of(answer: Result<&[u8], Fault>) -> CallOutcome {
    match answer {
        Ok(message) => refused(of_answer(message), message, Expect::Ok),
        Err(fault) => of_fault(fault),
    }
}

/// The outcome of a call without an answer.
pub(super) fn of_fault(fault: Fault) -> CallOutcome {
    match fault {
        Fault::TimedOut => CallOutcome::Timeout,
        Fault::Malformed | Fault::TooLarge => CallOutcome::ProtocolError(ProtocolError::Malformed),
        // Gateways that enforce a policy answer with these.
        Fault::Status(401 | 403 | 429) => CallOutcome::Denied,
        Fault::Unreachable | Fault::Closed | Fault::NoMemory | Fault::Status(_) => {
            CallOutcome::Transport
        }
    }
}

/// The outcome of an answer that was not validated.
pub(super) fn of_answer(message: &[u8]) -> CallOutcome {
    let answer = Answer::read(message);
    match answer.error_code {
        Some(code) => CallOutcome::ProtocolError(ProtocolError::Rpc { code }),
        None if !answer.is_result => CallOutcome::ProtocolError(ProtocolError::Malformed),
        None if answer.is_error => CallOutcome::ToolError,
        None => CallOutcome::Success,
    }
}

/// An `isError` result that a gateway wrote is not the tool's own error, and any `isError` result
/// is a refusal where one is expected.
pub(super) fn refused(outcome: CallOutcome, message: &[u8], expect: Expect) -> CallOutcome {
    if outcome != CallOutcome::ToolError {
        return outcome;
    }
    if expect == Expect::Deny {
        return CallOutcome::Denied;
    }
    let first = texts(message).into_iter().next();
    let written = first.and_then(|text| outcome_of_text(&text));
    written.unwrap_or(outcome)
}

/// Whether an outcome is what was expected of the call.
pub(super) fn is_expected(outcome: CallOutcome, expect: Expect) -> bool {
    matches!(
        (outcome, expect),
        (CallOutcome::Success, Expect::Ok)
            | (CallOutcome::ToolError, Expect::Error)
            | (CallOutcome::Denied, Expect::Deny)
    )
}

/// The name of an outcome in reports.
pub fn label(outcome: CallOutcome) -> String {
    match outcome {
        CallOutcome::Success => "ok".to_owned(),
        CallOutcome::ToolError => "tool_error".to_owned(),
        CallOutcome::ExpectedRejection => "expected_rejection".to_owned(),
        CallOutcome::Denied => "denied".to_owned(),
        CallOutcome::Timeout => "timeout".to_owned(),
        CallOutcome::Transport => "transport".to_owned(),
        CallOutcome::TesterBug => "tester_bug".to_owned(),
        CallOutcome::GatewayChanged => "gateway_changed".to_owned(),
        CallOutcome::ProtocolError(ProtocolError::Malformed) => {
            "protocol_error/malformed".to_owned()
        }
        CallOutcome::ProtocolError(ProtocolError::Rpc { code }) => {
            format!("protocol_error/rpc {code}")
        }
        CallOutcome::ProtocolError(ProtocolError::SchemaViolation { site }) => {
            format!("protocol_error/schema_violation {site}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_told_apart() {
        let framed = |inner: &str| format!(r#"{{"jsonrpc":"2.0","id":1,{inner}}}"#);
        for (inner, expect, expected) in [
            (r#""result":{"content":[]}"#, Expect::Ok, "ok"),
            (
                r#""result":{"content":[],"isError":true}"#,
                Expect::Ok,
                "tool_error",
            ),
            (
                r#""result":{"content":[],"isError":true}"#,
                Expect::Deny,
                "denied",
            ),
            (
                r#""result":{"content":[{"type":"text","text":"blocked by policy: schema"}],"isError":true}"#,
                Expect::Ok,
                "denied",
            ),
            (
                r#""error":{"code":-32602}"#,
                Expect::Ok,
                "protocol_error/rpc -32602",
            ),
        ] {
            let message = framed(inner);
            let outcome = of_answer(message.as_bytes());
            assert_eq!(
                label(refused(outcome, message.as_bytes(), expect)),
                expected
            );
        }
        for (fault, expected) in [
            (Fault::TimedOut, "timeout"),
            (Fault::Closed, "transport"),
            (Fault::NoMemory, "transport"),
            (Fault::Status(500), "transport"),
            (Fault::Status(429), "denied"),
            (Fault::Malformed, "protocol_error/malformed"),
        ] {
            assert_eq!(label(of_fault(fault)), expected);
        }
    }
}
