//! Whose answer, or whose request, an oversized line is. The line itself is thrown away as it arrives; this reads it
//! in passing, in constant memory, for the `id` among the members of its outermost object, which
//! may stand before or after the result. It checks nothing: a line that lies hurts its own server.

use bytes::Bytes;
use memchr::memchr2;

/// A longer id is not remembered.
const LONGEST: usize = 256;

/// Reads a message piece by piece, looking for its id.
#[derive(Debug, Default)]
pub(super) struct IdFinder {
    depth: u32,
    context: Context,
    key: Key,
    /// The token of the id so far.
    token: Vec<u8>,
    id: Option<Bytes>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Context {
    #[default]
    Between,
    String,
    /// After a backslash in a string.
    Escape,
}

/// What the outermost object's latest key is, as far as it has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Key {
    #[default]
    Awaited,
    /// So many characters of `id` have been read.
    Matches(u8),
    Other,
    /// Its value is due; true if it is the id's.
    Value(bool),
}

impl IdFinder {
    /// The id as it is written, once it has been read to its end. It has not been checked.
    pub(super) fn id(&self) -> Option<Bytes> {
        self.id.clone()
    }

    /// Reads on.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while self.id.is_none()
            && let Some((&byte, after)) = rest.split_first()
        {
            rest = after;
            match self.context {
                Context::Escape => {
                    self.escaped(byte);
                    self.context = Context::String;
                }
                Context::Between => self.between(byte),
                Context::String => match byte {
                    b'"' => self.end_of_string(),
                    b'\\' => self.context = Context::Escape,
                    _ if self.depth == 1 => self.character(byte),
                    _ => rest = rest.get(text_length(rest)..).unwrap_or_default(),
                },
            }
        }
    }

    fn between(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.context = Context::String;
                self.keep(byte);
                if self.depth == 1 && self.key == Key::Awaited {
                    self.key = Key::Matches(0);
                }
            }
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => {
                self.end_of_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_of_value(),
            b':' if self.depth == 1 => self.key = Key::Value(self.key == Key::Matches(2)),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    /// A character of a key or of the id, at the outermost level.
    fn character(&mut self, byte: u8) {
        if self.depth != 1 {
            return;
        }
        match self.key {
            Key::Matches(0) if byte == b'i' => self.key = Key::Matches(1),
            Key::Matches(1) if byte == b'd' => self.key = Key::Matches(2),
            Key::Matches(_) => self.key = Key::Other,
            _ => self.keep(byte),
        }
    }

    /// A character after a backslash: the key `id` is not expected to be escaped.
    fn escaped(&mut self, byte: u8) {
        if matches!(self.key, Key::Matches(_)) {
            self.character(0);
        }
        self.keep(b'\\');
        self.keep(byte);
    }

    /// A byte of the id, if it is one.
    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.key == Key::Value(true) && self.token.len() <= LONGEST {
            self.token.push(byte);
        }
    }

    fn end_of_string(&mut self) {
        self.keep(b'"');
        self.context = Context::Between;
    }

    fn end_of_value(&mut self) {
        if self.depth == 1 {
            let token = std::mem::take(&mut self.token);
            let is_usable = !token.is_empty() && token != b"null" && token.len() <= LONGEST;
            self.id = is_usable.then(|| token.into());
            self.key = Key::Awaited;
        }
    }
}

/// How much of a string's inside can be passed over at once.
fn text_length(bytes: &[u8]) -> usize {
    memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<String> {
        let whole = {
            let mut finder = IdFinder::default();
            finder.feed(text.as_bytes());
            finder.id()
        };
        let mut finder = IdFinder::default();
        for byte in text.as_bytes() {
            finder.feed(&[*byte]);
        }
        assert_eq!(finder.id(), whole, "the pieces matter: {text}");
        whole.map(|id| String::from_utf8_lossy(&id).into_owned())
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":17,"result":{"#, "17"),
            (
                r#" { "result" : {"id":1,"x":["id",{"id":2}]} , "id" : 42 }"#,
                "42",
            ),
            (r#"{"result":{"text":"\",\"id\":5}"},"id":6}"#, "6"),
            (r#"{"id":"9","result":{}}"#, r#""9""#),
            (r#"{"x":"id","y":7,"id":8}"#, "8"),
            (r#"{"id": "a \"b\\" ,"params":{"#, r#""a \"b\\""#),
            (r#"{"id":-1.5e3,"params":{"#, "-1.5e3"),
        ] {
            assert_eq!(id(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_the_id_is_not_taken_for_it() {
        for text in [
            r#"{"idx":1,"i":2,"di":3,"i\u0064":4}"#,
            r#"{"result":{"id":1}}"#,
            r#"{"id":null,"result":{}}"#,
            r#"{"id":12"#,
            r#"[{"id":1}]"#,
            "no message at all",
            "",
            r#"{"id":{"a":1},"x":1}"#,
            &format!(r#"{{"id":"{}","x":1}}"#, "x".repeat(LONGEST)),
        ] {
            assert_eq!(id(text), None, "{text}");
        }
    }
}
