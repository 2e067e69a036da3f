//! Writes protobuf: the few kinds of fields that OTLP has. Nothing is read here except the counts in an answer.

/// The wire type of a field.
#[derive(Clone, Copy)]
enum WireType {
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5,
}

/// A message under construction.
#[derive(Debug, Default)]
pub(crate) struct Message(pub(crate) Vec<u8>);

/// The value of an attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    Flag(bool),
    Texts(&'a [&'a str]),
}

impl Message {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(low_seven_bits(value) | 0x80);
            value >>= 7;
        }
        self.0.push(low_seven_bits(value));
    }

    fn tag(&mut self, field: u32, wire_type: WireType) {
        self.varint(u64::from(field << 3 | wire_type as u32));
    }

    pub(crate) fn number(&mut self, field: u32, value: u64) {
        self.tag(field, WireType::Varint);
        self.varint(value);
    }

    pub(crate) fn fixed64(&mut self, field: u32, value: u64) {
        self.tag(field, WireType::Fixed64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn fixed32(&mut self, field: u32, value: u32) {
        self.tag(field, WireType::Fixed32);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub(crate) fn bytes(&mut self, field: u32, value: &[u8]) {
        self.length(field, value.len());
        self.0.extend_from_slice(value);
    }

    pub(crate) fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// The beginning of a field of this many bytes, which the caller appends.
    pub(crate) fn length(&mut self, field: u32, bytes: usize) {
        self.tag(field, WireType::Bytes);
        self.varint(bytes as u64);
    }

    /// Eight bytes each, one after the other.
    pub(crate) fn packed(&mut self, field: u32, values: impl ExactSizeIterator<Item = u64>) {
        self.length(field, values.len() * 8);
        for value in values {
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    pub(crate) fn message(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        let mut inner = Self::with_capacity(64);
        write(&mut inner);
        self.bytes(field, &inner.0);
    }

    /// A `KeyValue`. Clients and servers choose texts, so a long one is cut.
    pub(crate) fn attribute(&mut self, field: u32, key: &str, value: Value<'_>) {
        let value = value.bounded();
        let value_size = value.size();
        let size = delimited(key.len()) + delimited(value_size);
        self.length(field, size);
        self.text(1, key);
        self.length(2, value_size);
        self.any_value(value);
    }

    /// The content of an `AnyValue`.
    pub(crate) fn any_value(&mut self, value: Value<'_>) {
        match value {
            Value::Text(text) => self.text(1, text),
            Value::Flag(flag) => self.number(2, u64::from(flag)),
            Value::Texts(texts) => {
                self.length(5, array_size(texts));
                for text in texts {
                    self.length(1, delimited(text.len()));
                    self.text(1, text);
                }
            }
        }
    }
}

/// Bytes of a text that are kept.
const MAX_TEXT: usize = 512;

/// The text, or as much of it as is kept.
pub(crate) fn cut(text: &str) -> &str {
    let end = text.floor_char_boundary(MAX_TEXT);
    text.get(..end).unwrap_or_default()
}

impl Value<'_> {
    fn bounded(self) -> Self {
        match self {
            Self::Text(text) => Self::Text(cut(text)),
            other => other,
        }
    }

    /// How many bytes the `AnyValue` takes.
    fn size(self) -> usize {
        match self {
            Self::Text(text) => delimited(text.len()),
            Self::Flag(_) => 2,
            Self::Texts(texts) => delimited(array_size(texts)),
        }
    }
}

fn array_size(texts: &[&str]) -> usize {
    let sizes = texts.iter().map(|text| delimited(delimited(text.len())));
    sizes.sum()
}

/// A field with a number below 16, its length, and its content.
fn delimited(content: usize) -> usize {
    1 + varint_size(content as u64) + content
}

fn varint_size(value: u64) -> usize {
    let bits = (u64::BITS - value.leading_zeros()).max(1);
    bits.div_ceil(7) as usize
}

fn low_seven_bits(value: u64) -> u8 {
    (value & 0x7f).to_le_bytes()[0]
}

/// How many items the receiver rejected, as its answer says: field 1 of the message in field 1. An answer that is not
/// one says nothing.
pub(crate) fn rejected_count(answer: &[u8]) -> u64 {
    let Some((1, Field::Bytes(partial), _)) = read_field(answer) else {
        return 0;
    };
    match read_field(partial) {
        Some((1, Field::Varint(count), _)) => count,
        _ => 0,
    }
}

enum Field<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
}

/// The first field of a message, and what follows it.
fn read_field(message: &[u8]) -> Option<(u64, Field<'_>, &[u8])> {
    let (tag, rest) = read_varint(message)?;
    match tag & 7 {
        0 => {
            let (value, rest) = read_varint(rest)?;
            Some((tag >> 3, Field::Varint(value), rest))
        }
        2 => {
            let (length, rest) = read_varint(rest)?;
            let (value, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            Some((tag >> 3, Field::Bytes(value), rest))
        }
        _ => None,
    }
}

fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f).checked_shl(7 * u32::try_from(at).ok()?)?;
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_value_is_what_is_written() {
        let long = "x".repeat(300);
        let texts = ["", "a", long.as_str()];
        for value in [
            Value::Text(""),
            Value::Text(&long),
            Value::Flag(true),
            Value::Texts(&texts),
            Value::Texts(&[]),
        ] {
            let mut message = Message::default();
            message.any_value(value);
            assert_eq!(message.0.len(), value.size(), "{value:?}");
        }
    }

    #[test]
    fn only_an_answer_says_what_was_rejected() {
        let mut answer = Message::default();
        answer.message(1, |partial| {
            partial.number(1, 300);
            partial.text(2, "too old");
        });
        assert_eq!(rejected_count(&answer.0), 300);
        for nonsense in [
            &b""[..],
            b"\n",
            b"\n\xff",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            b"<html>",
            b"\n\x02\x12\x00",
        ] {
            assert_eq!(rejected_count(nonsense), 0, "{nonsense:?}");
        }
    }
}
