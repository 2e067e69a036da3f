//! The answer of a server to something other than a tool call, fitted to the client's era: modern
//! clients must be told how long they may keep a list, legacy ones know nothing of it, and a
//! resource that is not there has a code of its own in each. Every other byte stays.

use bytes::Bytes;
use countersign_inspect::ClientEra;
use countersign_tape::{Edits, Hard, Kind, Place, Span, members, scan};

use crate::json::member;
use crate::method::Method;

/// What a legacy server says of a resource that is not there.
const MISSING: &[u8] = b"-32002";
const MEMBERS: [(&str, &[u8]); 2] = [("ttlMs", b"0"), ("cacheScope", b"\"private\"")];

/// The message as the client's era wants it.
pub(super) fn fitted(message: Bytes, method: Method, client: ClientEra) -> Bytes {
    let hard = Hard {
        max_bytes: usize::MAX,
        ..Hard::default()
    };
    let Ok(envelope) = scan(&message, &hard) else {
        return message;
    };
    let mut edits = Edits::new(&message);
    let result = envelope.result();
    match result.filter(|result| result.kind(&message) == Some(Kind::Object)) {
        Some(result) if method.is_cacheable() => cached(&mut edits, &message, result, client),
        _ => {}
    }
    let code = envelope
        .error()
        .and_then(|error| member(&message, error, "code"));
    if let Some(code) = code
        && client == ClientEra::Modern
        && code.bytes(&message) == MISSING
    {
        edits.replace(code, "-32602");
    }
    if edits.is_empty() {
        return message.clone();
    }
    let edited = edits.apply().map(|edited| edited.to_vec());
    edited.map_or_else(|_| message.clone(), Bytes::from)
}

fn cached(edits: &mut Edits<'_>, message: &[u8], result: Span, client: ClientEra) {
    for (name, value) in MEMBERS {
        let key = members(message, result)
            .map(|(key, _)| key)
            .find(|key| key.string(message).is_some_and(|key| key == name));
        match (client, key) {
            (ClientEra::Modern, None) => {
                edits.insert_member(result, Place::Last, name, value);
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
        let fitted = fitted(Bytes::from_static(message.as_bytes()), method, client);
        String::from_utf8(fitted.to_vec()).expect("UTF-8")
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
}
