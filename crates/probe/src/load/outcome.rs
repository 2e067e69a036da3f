//! How one call ended, from its exchange and the judgement of its answer, if there is one.

use bytes::Bytes;

use super::refusal::outcome_of_text;
use crate::client::{Exchange, Fault};
use crate::judge::{ReplyFacts, texts};
use crate::plan::Expect;
use crate::policy::{CallOutcome, ProtocolError};

/// The answer of an exchange as it was sent, or why there is none.
pub(crate) fn answer(exchange: &Exchange) -> Result<Bytes, Fault> {
    match &exchange.reply {
        Ok(_) => exchange.message.clone().ok_or(Fault::Malformed),
        Err(fault) => Err(*fault),
    }
}

/// The outcome of a call whose answer is not validated.
pub(crate) fn unvalidated_outcome(answer: &Result<Bytes, Fault>, expect: Expect) -> CallOutcome {
    let message = match answer {
        Ok(message) => message,
        Err(fault) => return fault_outcome(*fault),
    };
    let answer = ReplyFacts::read(message);
    let outcome = match answer.error_code {
        Some(code) => CallOutcome::ProtocolError(ProtocolError::Rpc { code }),
        None if !answer.is_result => CallOutcome::ProtocolError(ProtocolError::Malformed),
        None if answer.is_error => CallOutcome::ToolError,
        None => CallOutcome::Success,
    };
    recognise_refusal(outcome, message, expect)
}

/// The outcome of a call without an answer.
pub(super) fn fault_outcome(fault: Fault) -> CallOutcome {
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

/// An `isError` result that a gateway wrote is not the tool's own error, and any `isError` result
/// is a refusal where one is expected.
pub(super) fn recognise_refusal(
    outcome: CallOutcome,
    message: &[u8],
    expect: Expect,
) -> CallOutcome {
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
    let word = match outcome {
        CallOutcome::Success => "ok",
        CallOutcome::ToolError => "tool_error",
        CallOutcome::Denied => "denied",
        CallOutcome::Timeout => "timeout",
        CallOutcome::Transport => "transport",
        CallOutcome::ProtocolError(ProtocolError::Malformed) => "protocol_error/malformed",
        CallOutcome::ProtocolError(ProtocolError::Rpc { code }) => {
            return format!("protocol_error/rpc {code}");
        }
        CallOutcome::ProtocolError(ProtocolError::SchemaViolation { site }) => {
            return format!("protocol_error/schema_violation {site}");
        }
    };
    word.to_owned()
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
            let answer = Ok(Bytes::from(framed(inner)));
            assert_eq!(label(unvalidated_outcome(&answer, expect)), expected);
        }
        for (fault, expected) in [
            (Fault::TimedOut, "timeout"),
            (Fault::Closed, "transport"),
            (Fault::NoMemory, "transport"),
            (Fault::Status(500), "transport"),
            (Fault::Status(429), "denied"),
            (Fault::Malformed, "protocol_error/malformed"),
        ] {
            assert_eq!(
                label(unvalidated_outcome(&Err(fault), Expect::Ok)),
                expected
            );
        }
    }
}
