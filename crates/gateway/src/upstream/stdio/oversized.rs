//! Whose answer an oversized line is. The line itself is thrown away as it arrives; this reads it
//! in passing, in constant memory, for the `id` among the members of its outermost object, which
//! may stand before or after the result. It checks nothing: a line that lies hurts its own server.

use memchr::memchr2;

/// Reads a message piece by piece, looking for its id.
#[derive(Debug, Default)]
pub(super) struct IdFinder {
    depth: u32,
    place: Place,
    key: Key,
    /// The digits of the id so far.
    digits: Option<u64>,
    found: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
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
    /// The id, once it has been read to its end.
    pub(super) fn found(&self) -> Option<u64> {
        self.found
    }

    /// Reads on.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while self.found.is_none()
            && let Some((&byte, after)) = rest.split_first()
        {
            rest = after;
            match self.place {
                Place::Escape => {
                    self.character(0);
                    self.place = Place::String;
                }
                Place::Between => self.between(byte),
                Place::String => match byte {
                    b'"' => self.end_of_string(),
                    b'\\' => self.place = Place::Escape,
                    _ if self.depth == 1 => self.character(byte),
                    _ => rest = rest.get(text_length(rest)..).unwrap_or_default(),
                },
            }
        }
    }

    fn between(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.place = Place::String;
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
            _ if matches!(self.key, Key::Value(true)) => self.character(byte),
            _ => {}
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
            // A string of digits is taken for the number: the answer is refused either way.
            Key::Value(true) if byte.is_ascii_digit() => {
                let digits = self.digits.unwrap_or(0).saturating_mul(10);
                self.digits = Some(digits.saturating_add(u64::from(byte - b'0')));
            }
            _ => {}
        }
    }

    fn end_of_string(&mut self) {
        self.place = Place::Between;
    }

    fn end_of_value(&mut self) {
        if self.depth == 1 {
            self.found = self.digits.take();
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

    fn id(text: &str) -> Option<u64> {
        let whole = {
            let mut finder = IdFinder::default();
            finder.feed(text.as_bytes());
            finder.found()
        };
        let mut finder = IdFinder::default();
        for byte in text.as_bytes() {
            finder.feed(&[*byte]);
        }
        assert_eq!(finder.found(), whole, "the pieces matter: {text}");
        whole
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":17,"result":{"#), Some(17));
        assert_eq!(
            id(r#" { "result" : {"id":1,"x":["id",{"id":2}]} , "id" : 42 }"#),
            Some(42)
        );
        assert_eq!(id(r#"{"result":{"text":"\",\"id\":5}"},"id":6}"#), Some(6));
        assert_eq!(id(r#"{"id":"9","result":{}}"#), Some(9));
        assert_eq!(id(r#"{"x":"id","y":7,"id":8}"#), Some(8));
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
        ] {
            assert_eq!(id(text), None, "{text}");
        }
    }
}
