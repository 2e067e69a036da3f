//! Several messages in one body. One version of the protocol has that, 2025-03-26, whose clients
//! send no version header yet; to all others it is a mistake. The messages are answered one after
//! the other, in plain JSON, and as if each had come alone.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::ClientEra;
use countersign_tape::{Kind, ScanLimits, elements, scan};
use hyper::HeaderMap;
use hyper::StatusCode;
use hyper::header::ACCEPT;

use super::client_transport::ClientTransport;
use super::mcp::single;
use super::message::{Message, MessageKind};
use crate::path::reply::{self, Problem, Reply};
use crate::services::Runtime;
use crate::state::{Caller, Endpoint, Snapshot};

pub(super) const VERSION: &str = "2025-03-26";
/// More than this in one body is not answered.
const MOST: usize = 64;

/// Whether a body is several messages from a client that may send them.
pub(super) fn is_batch(headers: &HeaderMap, body: &[u8]) -> bool {
    let version = || headers.get("mcp-protocol-version");
    body.trim_ascii_start().starts_with(b"[") && version().is_none_or(|version| version == VERSION)
}

/// Answers each message that wants an answer.
pub(super) async fn answer(
    runtime: &Runtime,
    snapshot: &Arc<Snapshot>,
    endpoint: &Endpoint,
    (headers, caller): (&HeaderMap, &Arc<Caller>),
    body: &Bytes,
) -> Reply {
    let messages = match messages(body) {
        Ok(messages) => messages,
        Err(problem) => return reply::problem(None, &problem, ClientEra::Unnegotiated),
    };
    let mut headers = headers.clone();
    headers.remove(ACCEPT);
    let mut replies = Vec::new();
    for message in messages {
        let reply = if let Some(id) = opens_session(&message) {
            let problem = Problem::Invalid("initialize stands alone");
            reply::problem(Some(&id), &problem, ClientEra::Legacy)
        } else {
            let (snapshot, transport) = (
                Arc::clone(snapshot),
                ClientTransport::Http(&headers, caller),
            );
            let answer = single(runtime, snapshot, endpoint.clone(), transport, message).await;
            answer.reply
        };
        if reply.status != StatusCode::ACCEPTED {
            replies.push(reply.body.into_bytes());
        }
    }
    if replies.is_empty() {
        return reply::accepted();
    }
    reply::batch(&replies)
}

/// The messages of a body.
pub(super) fn messages(body: &Bytes) -> Result<Vec<Bytes>, Problem> {
    let hard = ScanLimits {
        max_bytes: usize::MAX,
        ..ScanLimits::default()
    };
    let envelope = scan(body, &hard).map_err(|_| Problem::Parse)?;
    if envelope.kind() != Kind::Array {
        return Err(Problem::Parse);
    }
    let slice = |span: countersign_tape::Span| body.slice_ref(span.bytes(body));
    let messages: Vec<Bytes> = elements(body, envelope.root())
        .take(MOST + 1)
        .map(slice)
        .collect();
    if messages.is_empty() || messages.len() > MOST {
        return Err(Problem::Invalid("no messages, or too many"));
    }
    Ok(messages)
}

/// The id of a message that would open a session, which concerns all of a body.
fn opens_session(message: &Bytes) -> Option<Bytes> {
    match Message::parse(message.clone()).ok()?.0 {
        MessageKind::Request { id, method } if method == "initialize" => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_version_that_has_them_may_send_several() {
        let mut headers = HeaderMap::new();
        assert!(is_batch(&headers, b" [1]") && !is_batch(&headers, b"{}"));
        headers.insert("mcp-protocol-version", VERSION.parse().expect("a header"));
        assert!(is_batch(&headers, b"[]"));
        headers.insert(
            "mcp-protocol-version",
            "2025-06-18".parse().expect("a header"),
        );
        assert!(!is_batch(&headers, b"[]"));
    }

    #[test]
    fn a_body_is_taken_apart_within_limits() {
        let all = messages(&Bytes::from_static(br#" [ {"a":[1]}, 5 ] "#)).expect("messages");
        assert_eq!(all, [&b"{\"a\":[1]}"[..], b"5"]);
        let many = format!("[{}1]", "1,".repeat(MOST));
        for bad in [&b"[]"[..], b"[", b"[1", many.as_bytes()] {
            assert!(messages(&Bytes::copy_from_slice(bad)).is_err());
        }
    }
}
