//! The messages we write: our own envelope around somebody else's bytes, which stay as they are.
//! A modern request says in `_meta` what used to be said once in a handshake.

use countersign_inspect::Era;
use countersign_tape::{Edits, Kind, Place, Span, escape_into};

use super::headers::Mirrored;
use super::json::member;

/// The version we speak to modern servers.
pub(super) const MODERN: &str = "2026-07-28";
/// The versions we speak to legacy servers, newest first.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{},"#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"countersign-probe","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}"#
);

/// A request that is to be sent, but for its id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing<'a> {
    pub(super) method: &'a str,
    /// What a modern request names in a header: the tool.
    pub(super) name: Option<&'a str>,
    pub(super) arguments: Option<&'a [u8]>,
    pub(super) mirrored: Option<&'a Mirrored>,
    pub(super) params: &'a [u8],
}

impl<'a> Outgoing<'a> {
    /// A request that is about nothing in particular.
    pub(super) fn plain(method: &'a str, params: &'a [u8]) -> Self {
        Self {
            method,
            name: None,
            arguments: None,
            mirrored: None,
            params,
        }
    }

    /// The message under this id.
    pub(super) fn message(&self, id: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.params.len() + self.method.len() + 64);
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        decimal(id, &mut out);
        out.extend_from_slice(br#","method":""#);
        escape_into(self.method, &mut out);
        out.extend_from_slice(br#"","params":"#);
        out.extend_from_slice(self.params);
        out.push(b'}');
        out
    }
}

/// The `params` of a tool call.
pub(super) fn call_params(era: Era, tool: &str, arguments: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(arguments.len() + tool.len() + META.len() + 40);
    out.extend_from_slice(br#"{"name":""#);
    escape_into(tool, &mut out);
    out.extend_from_slice(br#"","arguments":"#);
    out.extend_from_slice(arguments);
    if era == Era::Modern {
        out.extend_from_slice(br#","_meta":"#);
        out.extend_from_slice(META.as_bytes());
    }
    out.push(b'}');
    out
}

/// The `params` of a request of our own: `members` is what is inside the braces.
pub(super) fn own_params(era: Era, members: &str) -> String {
    match (era, members) {
        (Era::Legacy, _) => format!("{{{members}}}"),
        (Era::Modern, "") => format!(r#"{{"_meta":{META}}}"#),
        (Era::Modern, _) => format!(r#"{{{members},"_meta":{META}}}"#),
    }
}

/// Somebody's `params`, with the `_meta` a modern server demands if there is a place for it.
pub(super) fn raw_params(era: Era, params: &[u8]) -> Vec<u8> {
    let trimmed = params.trim_ascii();
    let whole = Span::whole(trimmed);
    let is_object = whole.kind(trimmed) == Some(Kind::Object);
    if era == Era::Legacy || !is_object || member(trimmed, whole, "_meta").is_some() {
        return trimmed.to_vec();
    }
    let mut edits = Edits::new(trimmed);
    edits.insert_member(whole, Place::Last, "_meta", META.as_bytes());
    match edits.apply() {
        Ok(edited) => edited.to_vec(),
        Err(_) => trimmed.to_vec(),
    }
}

/// The `params` of `initialize`.
pub(super) fn initialize_params() -> String {
    format!(
        r#"{{"protocolVersion":"{}","capabilities":{{}},"clientInfo":{{"name":"countersign-probe","version":"{}"}}}}"#,
        LEGACY[0],
        env!("CARGO_PKG_VERSION")
    )
}

/// A notification.
pub(super) fn notification(method: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#).into_bytes()
}

/// Says that nobody waits for an answer any more.
pub(super) fn cancelled(id: u64) -> Vec<u8> {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
    .into_bytes()
}

/// The answer to a request of the server's: only `ping` is something we can do.
pub(super) fn answer(id: &[u8], method: &str) -> Vec<u8> {
    let answer: &[u8] = match method {
        "ping" => br#","result":{}}"#,
        _ => br#","error":{"code":-32601,"message":"Method not found"}}"#,
    };
    [br#"{"jsonrpc":"2.0","id":"#, id, answer].concat()
}

fn decimal(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_go_out_as_they_are() {
        let params = call_params(Era::Legacy, "a\"b", br#"{ "n": 1.0 }"#);
        let message = Outgoing::plain("tools/call", &params).message(120);
        assert_eq!(
            String::from_utf8_lossy(&message),
            r#"{"jsonrpc":"2.0","id":120,"method":"tools/call","params":{"name":"a\"b","arguments":{ "n": 1.0 }}}"#
        );
    }

    #[test]
    fn a_modern_request_says_what_it_is() {
        for params in [
            raw_params(Era::Modern, b"{}"),
            raw_params(Era::Modern, br#" {"name":"x"} "#),
        ] {
            let whole = Span::whole(&params);
            let meta = member(&params, whole, "_meta").expect("there is a _meta");
            assert_eq!(meta.bytes(&params), META.as_bytes());
        }
        assert_eq!(raw_params(Era::Modern, b"[1]"), b"[1]");
        assert_eq!(
            raw_params(Era::Modern, br#"{"_meta":1}"#),
            br#"{"_meta":1}"#
        );
        assert_eq!(raw_params(Era::Legacy, b"{}"), b"{}");
    }
}
