//! Messages where several come one after the other: as server-sent events, or bare for a pipe, a
//! line each. A line break outside strings would end the line early (in an event a bare carriage
//! return does too), so those are dropped; inside strings there are none.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use countersign_tape::compact;
use memchr::memchr2;

const START: &[u8] = b"event: message\ndata: ";
const END: &[u8] = b"\n\n";

/// How messages are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By the form of events.
    Events,
    /// Bare: the transport separates them.
    Bare,
}

impl Framing {
    /// A message in this form.
    pub(crate) fn message(self, message: &Bytes) -> Bytes {
        match self {
            Self::Events => event(message),
            Self::Bare => message.clone(),
        }
    }

    /// A message that a client may have again: it names the number when it asks what followed.
    pub(crate) fn numbered(self, number: u64, message: &Bytes) -> Bytes {
        match self {
            Self::Events => [format!("id: {number}\n").as_bytes(), &event(message)]
                .concat()
                .into(),
            Self::Bare => message.clone(),
        }
    }

    /// What shows that a stream lives; a pipe needs nothing.
    pub(crate) fn pulse(self) -> Option<Bytes> {
        (self == Self::Events).then(pulse)
    }
}

/// A message as a line, without its end.
pub(crate) fn line(message: &Bytes) -> Cow<'_, [u8]> {
    match memchr2(b'\n', b'\r', message) {
        None => Cow::Borrowed(message),
        Some(_) => compact(message),
    }
}

/// A message as an event.
fn event(message: &Bytes) -> Bytes {
    let line = line(message);
    let mut event = BytesMut::with_capacity(START.len() + line.len() + END.len());
    event.extend_from_slice(START);
    event.extend_from_slice(&line);
    event.extend_from_slice(END);
    event.freeze()
}

/// Says nothing; keeps proxies from closing an idle connection.
fn pulse() -> Bytes {
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
