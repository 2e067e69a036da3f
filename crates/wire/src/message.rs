//! Builds the messages that are sent to a server: an envelope of our own around the client's `params`.

mod params;

use countersign_tape::{compact, quote};
use memchr::memchr2;

pub use params::{BadMeta, Hop, HopTrace, call_params, own_params, relayed};

/// A request, on one line and with its end.
pub fn line(id: u64, method: &str, params: &[u8]) -> Vec<u8> {
    let mut line = request(id, method, &one_line(params));
    line.push(b'\n');
    line
}

/// Any message as a line, with its end.
pub fn as_line(message: &[u8]) -> Vec<u8> {
    let mut line = one_line(message.trim_ascii_end()).into_owned();
    line.push(b'\n');
    line
}

/// A request.
pub fn request(id: u64, method: &str, params: &[u8]) -> Vec<u8> {
    let id = id.to_string();
    framed(&[
        br#"{"jsonrpc":"2.0","id":"#,
        id.as_bytes(),
        br#","method":"#,
        &quote(method),
        br#","params":"#,
        params,
        b"}",
    ])
}

/// A notification line.
pub fn notification(method: &str) -> Vec<u8> {
    framed(&[
        br#"{"jsonrpc":"2.0","method":""#,
        method.as_bytes(),
        b"\"}\n",
    ])
}

/// The notification line that cancels a request. `reason` is a raw JSON string.
pub fn cancelled(id: u64, reason: Option<&[u8]>) -> Vec<u8> {
    let id = id.to_string();
    let member: &[u8] = reason.map_or(b"", |_| br#","reason":"#);
    framed(&[
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#,
        id.as_bytes(),
        member,
        reason.unwrap_or_default(),
        b"}}\n",
    ])
}

/// The line that answers a request of the server.
pub fn answer(id: &[u8], result: &[u8]) -> Vec<u8> {
    framed(&[
        br#"{"jsonrpc":"2.0","id":"#,
        id,
        br#","result":"#,
        result,
        b"}\n",
    ])
}

/// The line that refuses a request of the server.
pub fn refuse(id: &[u8], code: i32, message: &str) -> Vec<u8> {
    let code = code.to_string();
    framed(&[
        br#"{"jsonrpc":"2.0","id":"#,
        id,
        br#","error":{"code":"#,
        code.as_bytes(),
        br#","message":"#,
        &quote(message),
        b"}}\n",
    ])
}

/// The text without line breaks, which would end the line early.
fn one_line(json: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    match memchr2(b'\n', b'\r', json) {
        None => json.into(),
        Some(_) => compact(json),
    }
}

fn framed(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_end() {
        let line = line(3, "tools/call", b"{\n \"a\":\r\n\"b c\" }");
        let expected = concat!(
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"a":"b c"}}"#,
            "\n"
        );
        assert_eq!(String::from_utf8_lossy(&line), expected);
    }

    #[test]
    fn a_cancellation_gives_the_reason_if_there_is_one() {
        let shown = |reason| String::from_utf8(cancelled(7, reason)).expect("UTF-8");
        let bare = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7"#;
        assert_eq!(shown(None), format!("{bare}}}}}\n"));
        let reason = br#""too slow""#;
        assert_eq!(
            shown(Some(reason)),
            format!("{bare},\"reason\":\"too slow\"}}}}\n")
        );
    }
}
