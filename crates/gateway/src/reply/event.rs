//! Messages as server-sent events. A line break outside strings would end the event's line early
//! (a bare carriage return does too), so those are dropped; inside strings there are none.

use bytes::{Bytes, BytesMut};
use countersign_tape::compact;
use memchr::memchr2;

const START: &[u8] = b"event: message\ndata: ";
const END: &[u8] = b"\n\n";

/// A message as an event.
pub(crate) fn event(message: &Bytes) -> Bytes {
    let line = match memchr2(b'\n', b'\r', message) {
        None => message.as_ref().into(),
        Some(_) => compact(message),
    };
    let mut event = BytesMut::with_capacity(START.len() + line.len() + END.len());
    event.extend_from_slice(START);
    event.extend_from_slice(&line);
    event.extend_from_slice(END);
    event.freeze()
}

/// Says nothing, so that nobody in between takes the connection for dead.
pub(crate) fn pulse() -> Bytes {
    Bytes::from_static(b": \n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_whatever_the_message() {
        let plain = Bytes::from_static(br#"{"a": 1.0}"#);
        assert_eq!(event(&plain), "event: message\ndata: {\"a\": 1.0}\n\n");
        let broken = Bytes::from_static(b"{\n \"a\":\r\"b c\\n\"\r\n}");
        assert_eq!(
            event(&broken),
            "event: message\ndata: {\"a\":\"b c\\n\"}\n\n"
        );
    }
}
