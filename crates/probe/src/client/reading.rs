//! What a message of the server's is: the answer to a request of ours, or something it says or
//! asks on the way. A message that is wrong in any way is never an answer.

use bytes::Bytes;
use countersign_tape::{Envelope, Hard, Kind, Member, elements, scan};

use super::exchange::{ErrorReply, Fault, Reply};

/// What a message turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Answers the request with this id.
    Answer(u64, Result<Reply, Fault>),
    /// Asks us something; the id is a raw token.
    Request { id: Bytes, method: String },
    /// Several messages in one.
    Batch(Vec<Bytes>),
    /// A notification, or an answer without a request.
    Other,
    /// No message at all, and not an empty line.
    Noise,
}

/// Reads one message.
pub(super) fn read(message: &Bytes) -> Heard {
    let Ok(envelope) = scan(message, &Hard::default()) else {
        // Whose it would have been is a guess, but a good one: a wrong answer is an answer.
        let is_blank = message.trim_ascii().is_empty();
        let unknown = if is_blank { Heard::Other } else { Heard::Noise };
        let id = guess_id(message);
        return id.map_or(unknown, |id| Heard::Answer(id, Err(Fault::Malformed)));
    };
    if envelope.kind() == Kind::Array {
        let parts = elements(message, envelope.root());
        return Heard::Batch(
            parts
                .map(|part| message.slice_ref(part.bytes(message)))
                .collect(),
        );
    }
    let id = envelope.id().map(|id| id.bytes(message));
    if let Some(method) = envelope.method().and_then(|method| method.string(message)) {
        return id.map_or(Heard::Other, |id| Heard::Request {
            id: message.slice_ref(id),
            method: method.into_owned(),
        });
    }
    match id.and_then(number) {
        Some((id, true)) => Heard::Answer(id, reply(message, &envelope)),
        Some((id, false)) => Heard::Answer(id, Err(Fault::Malformed)),
        None => Heard::Other,
    }
}

/// The answer in a message that has our id.
fn reply(message: &Bytes, envelope: &Envelope) -> Result<Reply, Fault> {
    let interpreted = [Member::JsonRpc, Member::Id, Member::Result, Member::Error];
    if envelope
        .duplicates()
        .any(|member| interpreted.contains(&member))
    {
        return Err(Fault::Malformed);
    }
    let version = envelope.get(Member::JsonRpc);
    if version.is_none_or(|version| version.bytes(message) != b"\"2.0\"") {
        return Err(Fault::Malformed);
    }
    match (envelope.result(), envelope.error()) {
        (Some(result), None) => Ok(Reply::Result(message.slice_ref(result.bytes(message)))),
        (None, Some(error)) => {
            let code = envelope.get(Member::ErrorCode);
            let code = code.and_then(|code| std::str::from_utf8(code.bytes(message)).ok());
            Ok(Reply::Error(ErrorReply {
                code: code.and_then(|code| code.parse().ok()),
                raw: message.slice_ref(error.bytes(message)),
            }))
        }
        _ => Err(Fault::Malformed),
    }
}

/// An id token as one of ours; false if it only looks like one.
fn number(token: &[u8]) -> Option<(u64, bool)> {
    let (digits, exact) = match token {
        [b'"', inside @ .., b'"'] => (inside, false),
        bare => (bare, true),
    };
    let id = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((id, exact))
}

/// The id in a message that cannot be read, or of which only the ends are there: where nearly
/// everybody writes it, at its start or at its end.
pub(super) fn guess_id(message: &[u8]) -> Option<u64> {
    const NEAR: usize = 64;
    let start = message.get(..NEAR).unwrap_or(message);
    let end = message
        .get(message.len().saturating_sub(NEAR)..)
        .unwrap_or_default();
    let after = |part: &[u8], at: Option<usize>| {
        let rest = part.get(at? + 4..)?.trim_ascii_start();
        let rest = rest.strip_prefix(b":")?.trim_ascii_start();
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let ended = rest
            .get(length)
            .is_some_and(|byte| matches!(byte, b',' | b'}' | b' '));
        let digits = std::str::from_utf8(rest.get(..length)?).ok()?;
        ended.then(|| digits.parse().ok())?
    };
    after(start, memchr::memmem::find(start, b"\"id\""))
        .or_else(|| after(end, memchr::memmem::rfind(end, b"\"id\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(message: &str) -> Heard {
        read(&Bytes::copy_from_slice(message.as_bytes()))
    }

    #[test]
    fn answers_keep_their_bytes() {
        let result = Bytes::from_static(br#"{ "n" : 1.0 }"#);
        for message in [
            r#"{"jsonrpc":"2.0","id":7,"result":{ "n" : 1.0 }}"#,
            r#"{"result":{ "n" : 1.0 },"id":7,"jsonrpc":"2.0"}"#,
        ] {
            let expected = Heard::Answer(7, Ok(Reply::Result(result.clone())));
            assert_eq!(heard(message), expected, "{message}");
        }
        let error = ErrorReply {
            code: Some(-32602),
            raw: Bytes::from_static(br#"{"code":-32602,"message":"no"}"#),
        };
        assert_eq!(
            heard(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}"#),
            Heard::Answer(7, Ok(Reply::Error(error)))
        );
    }

    #[test]
    fn a_wrong_answer_is_malformed_and_still_whose_it_is() {
        for message in [
            r#"{"jsonrpc":"2.0","id":7}"#,
            r#"{"jsonrpc":"2.0","id":"7","result":{}}"#,
            r#"{"jsonrpc":"1.0","id":7,"result":{}}"#,
            r#"{"id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"#,
            r#"{"jsonrpc":"2.0","result":nope,"id":7}"#,
        ] {
            let expected = Heard::Answer(7, Err(Fault::Malformed));
            assert_eq!(heard(message), expected, "{message}");
        }
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for message in [
            "",
            "\r",
            "{}",
            r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        ] {
            assert_eq!(heard(message), Heard::Other, "{message}");
        }
        assert_eq!(heard("Listening on 3000"), Heard::Noise);
        assert!(matches!(
            heard(r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#),
            Heard::Request { .. }
        ));
        assert!(matches!(heard(r#"[{"id":1}, {}]"#), Heard::Batch(parts) if parts.len() == 2));
    }
}
