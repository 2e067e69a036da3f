//! Answers of a server that differ with the client's era: modern clients must be told how long they
//! may keep a list, legacy ones know nothing of it, a resource that is not there has a code of its
//! own in each, and one error has a status. Every other byte stays.

use bytes::Bytes;
use countersign_inspect::{ClientEra, Segments};
use countersign_tape::{Edits, Kind, MemberPosition, ScanLimits, Span, members, scan};
use countersign_wire::Method;
use countersign_wire::json::member;
use hyper::StatusCode;

use super::{Body, Reply};

/// What a legacy server says of a resource that is not there.
const MISSING: &[u8] = b"-32002";
/// The client lacks something the server needs: a modern client expects a status that says so.
const INCAPABLE: &[u8] = b"-32021";
const MEMBERS: [(&str, &[u8]); 2] = [("ttlMs", b"0"), ("cacheScope", b"\"private\"")];

/// The message as the client's era wants it.
pub(super) fn fit_to_era(message: Segments, method: Method, client: ClientEra) -> Reply {
    let message = message.into_bytes();
    let hard = ScanLimits {
        max_bytes: usize::MAX,
        ..ScanLimits::default()
    };
    let (mut status, mut edits) = (StatusCode::OK, Edits::new(&message));
    if let Ok(envelope) = scan(&message, &hard) {
        let result = envelope.result();
        let result = result.filter(|result| result.kind(&message) == Some(Kind::Object));
        if let Some(result) = result.filter(|_| method.is_cacheable()) {
            cached(&mut edits, &message, result, client);
        }
        let error = envelope.error().filter(|_| client == ClientEra::Modern);
        if let Some(code) = error.and_then(|error| member(&message, error, "code")) {
            match code.bytes(&message) {
                MISSING => edits.replace(code, "-32602"),
                INCAPABLE => status = StatusCode::BAD_REQUEST,
                _ => {}
            }
        }
    }
    let edited = (!edits.is_empty()).then(|| edits.apply().ok()).flatten();
    let edited = edited.map(|edited| Bytes::from(edited.to_vec()));
    Reply {
        scopes: Vec::new(),
        status,
        body: Body::from(edited.unwrap_or(message)),
    }
}

fn cached(edits: &mut Edits<'_>, message: &[u8], result: Span, client: ClientEra) {
    for (name, value) in MEMBERS {
        let key = members(message, result)
            .map(|(key, _)| key)
            .find(|key| key.is_text(message, name));
        match (client, key) {
            (ClientEra::Modern, None) => {
                edits.insert_member(result, MemberPosition::Last, name, value);
            }
            (ClientEra::Legacy, Some(key)) => edits.remove_member(result, key),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(message: &'static str, method: Method, client: ClientEra) -> String {
        let message = Segments::from(Bytes::from_static(message.as_bytes()));
        let reply = fit_to_era(message, method, client);
        String::from_utf8(reply.body.into_bytes().to_vec()).expect("UTF-8")
    }

    #[test]
    fn lists_say_how_long_they_last_to_those_who_ask() {
        let bare = r#"{"id":1,"result":{ "prompts":[ 1.0 ] },"jsonrpc":"2.0"}"#;
        let full = r#"{"id":1,"result":{ "prompts":[ 1.0 ],"ttlMs":0,"cacheScope":"private" },"jsonrpc":"2.0"}"#;
        let list = Method::ListPrompts;
        assert_eq!(fit(bare, list, ClientEra::Modern), full);
        assert_eq!(fit(full, list, ClientEra::Modern), full);
        assert_eq!(fit(full, list, ClientEra::Legacy), bare);
        assert_eq!(fit(full, list, ClientEra::Unnegotiated), full);
        assert_eq!(fit(bare, Method::GetPrompt, ClientEra::Modern), bare);
    }

    #[test]
    fn a_missing_resource_has_the_code_of_the_era() {
        let old = r#"{"id":1,"error":{"code":-32002,"message":"no"}}"#;
        let new = r#"{"id":1,"error":{"code":-32602,"message":"no"}}"#;
        assert_eq!(fit(old, Method::ReadResource, ClientEra::Modern), new);
        assert_eq!(fit(old, Method::ReadResource, ClientEra::Legacy), old);
    }

    #[test]
    fn a_client_that_cannot_is_told_so_in_the_status() {
        let unable = Bytes::from_static(br#"{"id":1,"error":{"code":-32021,"message":"no"}}"#);
        for (client, status) in [(ClientEra::Modern, 400), (ClientEra::Legacy, 200)] {
            let message = Segments::from(unable.clone());
            let reply = fit_to_era(message, Method::CallTool, client);
            assert_eq!(reply.status.as_u16(), status);
            assert_eq!(reply.body.into_bytes(), unable);
        }
    }
}
