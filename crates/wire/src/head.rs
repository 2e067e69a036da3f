//! Tells what a JSON-RPC message is from as few of its bytes as possible: usually the first thirty. The message is not
//! checked; inspection does that.

use std::borrow::Cow;

use countersign_tape::{Span, elements, members};

use crate::json::path;

/// What a message is.
#[derive(Debug, PartialEq, Eq)]
pub enum Head<'a> {
    /// The response to the request with this id.
    Answer(u64),
    /// A response whose id is not one that this side gives to its requests.
    Stray,
    /// A request of the peer.
    Request {
        /// The id as it is written.
        id: &'a [u8],
        /// The method.
        method: Cow<'a, str>,
    },
    /// A notification of the peer.
    Notification {
        /// The method.
        method: Cow<'a, str>,
    },
    /// Several messages in one array.
    Batch(Vec<Span>),
    /// Not a message.
    Noise,
}

/// Reads the head of a message.
pub fn read(line: &[u8]) -> Head<'_> {
    if let Some(id) = plain_answer(line) {
        return Head::Answer(id);
    }
    let start = line.len() - line.trim_ascii_start().len();
    let whole = Span {
        start: u32::try_from(start).unwrap_or(u32::MAX),
        ..Span::whole(line)
    };
    match line.get(start) {
        Some(b'{') => object(line, whole),
        Some(b'[') => {
            let parts: Vec<Span> = elements(line, whole).collect();
            if parts.is_empty() {
                Head::Noise
            } else {
                Head::Batch(parts)
            }
        }
        _ => Head::Noise,
    }
}

fn object(line: &[u8], whole: Span) -> Head<'_> {
    let (mut id, mut method, mut answers) = (None, None, false);
    for (key, value) in members(line, whole) {
        match key.bytes(line) {
            b"\"id\"" => id = id.or(Some(value)),
            b"\"method\"" => method = method.or_else(|| value.string(line)),
            b"\"result\"" | b"\"error\"" => answers = true,
            _ => {}
        }
    }
    match (method, id) {
        (Some(method), Some(id)) => Head::Request {
            id: id.bytes(line),
            method,
        },
        (Some(method), None) => Head::Notification { method },
        // Without result or error it still answers the call, if badly: the client must not wait.
        (None, Some(id)) => id_number(id.bytes(line)).map_or(Head::Stray, Head::Answer),
        (None, None) if answers => Head::Stray,
        (None, None) => Head::Noise,
    }
}

/// The id in a JSON token, if it can be one that this side gave. Digits in quotes count: the call they
/// answer is then refused at once instead of waiting for its time-out.
pub fn id_number(token: &[u8]) -> Option<u64> {
    let digits = match token {
        [b'"', inside @ .., b'"'] => inside,
        bare => bare,
    };
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The id of the request that a progress notification is about: we send our request ids as progress tokens.
pub fn progress_id(message: &[u8]) -> Option<u64> {
    let token = path(message, Span::whole(message), &["params", "progressToken"])?;
    std::str::from_utf8(token.bytes(message)).ok()?.parse().ok()
}

/// The id, if the line starts the way nearly all answers do: `jsonrpc` and `id` in either order,
/// then `result` or `error`.
fn plain_answer(line: &[u8]) -> Option<u64> {
    let mut rest = space(space(line).strip_prefix(b"{")?);
    let mut id = None;
    loop {
        if let Some(after) = rest.strip_prefix(b"\"id\"") {
            let value = space(space(after).strip_prefix(b":")?);
            let length = value
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let (digits, after) = value.split_at_checked(length)?;
            id = Some(id_number(digits)?);
            rest = after;
        } else if let Some(after) = rest.strip_prefix(b"\"jsonrpc\"") {
            rest = space(space(after).strip_prefix(b":")?).strip_prefix(b"\"2.0\"")?;
        } else if rest.starts_with(b"\"result\"") || rest.starts_with(b"\"error\"") {
            return id;
        } else {
            return None;
        }
        rest = space(space(rest).strip_prefix(b",")?);
    }
}

fn space(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> String {
        match read(line.as_bytes()) {
            Head::Answer(id) => format!("answer {id}"),
            Head::Stray => "stray".to_owned(),
            Head::Request { id, method } => {
                format!("request {} {method}", String::from_utf8_lossy(id))
            }
            Head::Notification { method } => format!("notification {method}"),
            Head::Batch(parts) => format!("batch {}", parts.len()),
            Head::Noise => "noise".to_owned(),
        }
    }

    #[test]
    fn every_line_is_something() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "answer 7"),
            (r#"{"id" : 7 , "jsonrpc": "2.0", "error":{}}"#, "answer 7"),
            (r#"{"result":{"id":1},"id":8}"#, "answer 8"),
            (
                "\t{\"x-trace\":{\"id\":7},\"result\" :{},\"id\" : 9 }\r",
                "answer 9",
            ),
            (r#"{"jsonrpc":"2.0","id":"10","result":{}}"#, "answer 10"),
            (r#"{"jsonrpc":"2.0","id":11}"#, "answer 11"),
            (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "stray"),
            (r#"{"jsonrpc":"2.0","id":"x","result":{}}"#, "stray"),
            (r#"{"jsonrpc":"2.0","id":-1,"result":{}}"#, "stray"),
            (r#"{"jsonrpc":"2.0","error":{}}"#, "stray"),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#,
                "request \"a\" ping",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"x/y","params":{}}"#,
                "notification x/y",
            ),
            (r#"[{"id":1},{"id":2}]"#, "batch 2"),
            ("[]", "noise"),
            ("{}", "noise"),
            ("", "noise"),
            ("Listening on port 3000", "noise"),
            (r#"{"jsonrpc":"#, "noise"),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
    }

    #[test]
    fn a_broken_answer_is_still_somebodys() {
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":7,"result":{"a":}"#),
            "answer 7"
        );
    }
}
