//! The HTTP headers of MCP, and how text is written into their values.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{HeaderName, HeaderValue};

/// The session that a legacy server opened.
pub const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The protocol version of a request.
pub const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method of a modern request.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The tool, prompt or resource that a modern request names.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The event after which a stream is resumed.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The text in a header value. A value beyond visible ASCII is sent as `=?base64?…?=`; nothing if that cannot be decoded.
pub fn decode_header_value(value: &HeaderValue) -> Option<Cow<'_, str>> {
    let value = value.to_str().ok()?;
    let wrapped = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match wrapped {
        None => Some(Cow::Borrowed(value)),
        Some(wrapped) => {
            let text = String::from_utf8(STANDARD.decode(wrapped).ok()?).ok()?;
            Some(Cow::Owned(text))
        }
    }
}

/// A text as a header value, in base64 if it could not be read back as it is.
pub fn encode_header_value(text: &str) -> HeaderValue {
    let visible = |byte: u8| byte == b' ' || byte == b'\t' || byte.is_ascii_graphic();
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let bytes = text.as_bytes();
    let edges = bytes.first().is_some_and(blank) || bytes.last().is_some_and(blank);
    let wrapped = text.starts_with("=?base64?") && text.ends_with("?=");
    let plain = bytes.iter().all(|byte| visible(*byte)) && !edges && !wrapped;
    let value = if plain {
        HeaderValue::from_str(text)
    } else {
        HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(bytes)))
    };
    // Unreachable: either way it is visible ASCII.
    value.unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_headers_cannot_hold_are_wrapped() {
        for (text, expected) in [
            ("plain text", "plain text"),
            ("", ""),
            (" x", "=?base64?IHg=?="),
            ("caf\u{e9}", "=?base64?Y2Fmw6k=?="),
            ("a\r\nb", "=?base64?YQ0KYg==?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(encode_header_value(text), expected, "{text:?}");
        }
    }
}
