//! The JSON grammar, once: one loop over the bytes that tells a sink what it meets.
//! It never recurses and holds no state about nesting: the sink remembers what is open, in as few bits as
//! it needs. The tape and the skipper are sinks, and so is the reader of the schema crate, which judges on the way. What is still to be read is a slice, because one look at
//! its length covers several bytes.
#![expect(
    clippy::inline_always,
    reason = "the loop asks these for every value; as calls they cost as much as they do"
)]

use crate::error::{ParseError, Reason};
use crate::fingerprint::ShortName;
use crate::grammar::{Text, literal, trim};
use crate::kind::{Kind, NOT_INTEGER};
use crate::number::scan_number;
use crate::string::{end_of_string, plain_string, short_string};

/// What can have children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// `[…]`
    Array,
    /// `{…}`
    Object,
}

impl Container {
    /// What this byte opens.
    #[inline]
    const fn from_byte(byte: u8) -> Self {
        if byte == b'{' {
            Self::Object
        } else {
            Self::Array
        }
    }

    /// What ends it.
    #[inline]
    const fn closer(self) -> u8 {
        match self {
            Self::Object => b'}',
            Self::Array => b']',
        }
    }

    /// What should have stood there instead.
    const fn expected(self) -> Reason {
        match self {
            Self::Object => Reason::CommaOrBrace,
            Self::Array => Reason::CommaOrBracket,
        }
    }
}

/// What a walk reports to. Spans are offsets; `meta` is a kind with the flags of a node, as in [`Node::leaf`](crate::Node::leaf).
pub trait Sink {
    /// A scalar that is not a string, or an empty container.
    fn leaf(&mut self, start: usize, end: usize, meta: u32);
    /// A string value, quotes included.
    fn string(&mut self, start: usize, end: usize, flags: u32);
    /// A member name whose quote is at `start`, escapes undecoded.
    fn key(&mut self, start: usize, name: &[u8], flags: u32);
    /// The same for a short one without flags.
    fn short_key(&mut self, start: usize, name: ShortName);
    /// How long the quoted name and its colon are together, if `rest` begins with a name that the sink expects. The name
    /// is not reported again. Most sinks expect none.
    #[inline(always)]
    fn expected_key(&mut self, _rest: &[u8]) -> Option<usize> {
        None
    }
    /// A container with at least one child. A sink that has read the container itself returns where it ends.
    fn open(&mut self, start: usize, container: Container) -> Result<Option<usize>, ParseError>;
    /// Another child of the innermost container follows.
    fn comma(&mut self) -> Result<(), ParseError>;
    /// The innermost container ends just before `end`; returns the one around it, or nothing to end the walk.
    fn close(&mut self, end: usize) -> Option<Container>;
}

/// Walks the value at `at` (no whitespace before it) and returns where it ends. The bytes must be UTF-8.
#[inline]
pub fn walk<S: Sink>(bytes: &[u8], at: usize, sink: &mut S) -> Result<usize, ParseError> {
    let text = Text { bytes };
    let mut rest = bytes.get(at..).unwrap_or_default();
    let mut inside = Container::from_byte(rest.first().copied().unwrap_or(0));
    rest = match begin(text, rest, sink)? {
        FirstStep::Opened(first) => first,
        FirstStep::Ended(rest) => return Ok(text.offset(rest)),
    };
    loop {
        if inside == Container::Object {
            rest = key(text, rest, sink)?;
        }
        let behind = match open_container(text, rest, sink)? {
            Opening::Inside(first) => {
                inside = Container::from_byte(rest.first().copied().unwrap_or(0));
                rest = first;
                continue;
            }
            Opening::Behind(behind) => behind,
            Opening::None => childless(text, rest, sink)?,
        };
        rest = trim(behind);
        rest = loop {
            match *rest {
                [b',', ref tail @ ..] => break trim(tail),
                [byte, ref tail @ ..] if byte == inside.closer() => {
                    match sink.close(text.offset(tail)) {
                        Some(outer) => inside = outer,
                        None => return Ok(text.offset(tail)),
                    }
                    rest = trim(tail);
                }
                _ => return Err(text.error(rest, inside.expected())),
            }
        };
        sink.comma()?;
    }
}

/// The rest of the text after the first step.
enum FirstStep<'a> {
    /// A container is open, and this is what is inside and behind.
    Opened(&'a [u8]),
    /// The value has no children, and this is what is behind.
    Ended(&'a [u8]),
}

/// The first step of a walk, apart from the others so that those can be in line.
#[inline(never)]
fn begin<'a, S: Sink>(
    text: Text<'a>,
    rest: &'a [u8],
    sink: &mut S,
) -> Result<FirstStep<'a>, ParseError> {
    Ok(match open_container(text, rest, sink)? {
        Opening::Inside(first) => FirstStep::Opened(first),
        Opening::Behind(behind) => FirstStep::Ended(behind),
        Opening::None => FirstStep::Ended(childless(text, rest, sink)?),
    })
}

/// What becomes of a value that may be a container.
enum Opening<'a> {
    /// It is open, and this is the first of what is inside.
    Inside(&'a [u8]),
    /// The sink has read it, and this is what is behind.
    Behind(&'a [u8]),
    /// It has no children.
    None,
}

/// If a container with children begins here, open it.
#[inline(always)]
fn open_container<'a, S: Sink>(
    text: Text<'a>,
    rest: &'a [u8],
    sink: &mut S,
) -> Result<Opening<'a>, ParseError> {
    let &[byte @ (b'{' | b'['), ref inside @ ..] = rest else {
        return Ok(Opening::None);
    };
    let container = Container::from_byte(byte);
    let first = trim(inside);
    if first.first() == Some(&container.closer()) {
        return Ok(Opening::None);
    }
    Ok(match sink.open(text.offset(rest), container)? {
        None => Opening::Inside(first),
        Some(end) => Opening::Behind(text.from(end)),
    })
}

/// A scalar or an empty container; returns what is behind.
#[inline(always)]
fn childless<'a, S: Sink>(
    text: Text<'a>,
    rest: &'a [u8],
    sink: &mut S,
) -> Result<&'a [u8], ParseError> {
    let (behind, meta) = match *rest {
        [b'"', ref inside @ ..] => return string(text, rest, inside, sink),
        [b'-' | b'0'..=b'9', ..] => {
            let number = scan_number(text, rest)?;
            let flag = if number.integer { 0 } else { NOT_INTEGER };
            (number.behind, Kind::Number as u32 | flag)
        }
        [b't', ..] => (literal(text, rest, b"true")?, Kind::True as u32),
        [b'f', ..] => (literal(text, rest, b"false")?, Kind::False as u32),
        [b'n', ..] => (literal(text, rest, b"null")?, Kind::Null as u32),
        [b'{', ref inside @ ..] => (skip_byte(trim(inside)), Kind::Object as u32),
        [b'[', ref inside @ ..] => (skip_byte(trim(inside)), Kind::Array as u32),
        _ => return Err(text.error(rest, Reason::Value)),
    };
    sink.leaf(text.offset(rest), text.offset(behind), meta);
    Ok(behind)
}

/// What is behind the first byte.
#[inline(always)]
fn skip_byte(rest: &[u8]) -> &[u8] {
    rest.get(1..).unwrap_or_default()
}

#[inline(always)]
fn string<'a, S: Sink>(
    text: Text<'a>,
    rest: &'a [u8],
    inside: &'a [u8],
    sink: &mut S,
) -> Result<&'a [u8], ParseError> {
    let (behind, flags) = end_of_string(text, inside)?;
    sink.string(text.offset(rest), text.offset(behind), flags);
    Ok(behind)
}

/// A member name and its colon; returns its value and what is behind.
#[inline(always)]
fn key<'a, S: Sink>(text: Text<'a>, rest: &'a [u8], sink: &mut S) -> Result<&'a [u8], ParseError> {
    if let Some(length) = sink.expected_key(rest) {
        return Ok(trim(rest.get(length..).unwrap_or_default()));
    }
    let inside = name(text, rest)?;
    let start = text.offset(rest);
    let (length, behind, flags) = match short_string(inside) {
        Some((length, behind)) if let Some(short) = ShortName::read(inside, length) => {
            sink.short_key(start, short);
            return colon(text, behind);
        }
        Some((length, behind)) => (length, behind, 0),
        None => {
            let (behind, flags) = end_of_string(text, inside)?;
            (inside.len() - behind.len() - 1, behind, flags)
        }
    };
    sink.key(start, inside.get(..length).unwrap_or_default(), flags);
    colon(text, behind)
}

/// A member name from behind its opening quote on.
#[inline(always)]
pub(crate) fn name<'a>(text: Text<'a>, rest: &'a [u8]) -> Result<&'a [u8], ParseError> {
    match rest {
        [b'"', inside @ ..] => Ok(inside),
        _ => Err(text.error(rest, Reason::Key)),
    }
}

/// Step over the colon after a member name.
#[inline(always)]
pub(crate) fn colon<'a>(text: Text<'a>, rest: &'a [u8]) -> Result<&'a [u8], ParseError> {
    match trim(rest) {
        [b':', value @ ..] => Ok(trim(value)),
        other => Err(text.error(other, Reason::Colon)),
    }
}

/// Name and value of the first member of the object at `at`, if both are strings of printable ASCII without escapes.
pub fn first_text_member(text: &str, at: usize) -> Option<(&str, &str)> {
    let whole = Text {
        bytes: text.as_bytes(),
    };
    let inside = trim(whole.from(at).strip_prefix(b"{")?).strip_prefix(b"\"")?;
    let behind = plain_string(inside).ok()?;
    let value = colon(whole, behind).ok()?.strip_prefix(b"\"")?;
    let end = plain_string(value).ok()?;
    let between =
        |from: &[u8], behind: &[u8]| text.get(whole.offset(from)..whole.offset(behind) - 1);
    Some((between(inside, behind)?, between(value, end)?))
}

#[cfg(test)]
mod tests {
    use super::first_text_member;

    #[test]
    fn the_first_member_is_read_if_it_is_plain_text() {
        let rest = r#","other":[1,2,3,4,5,6,7,8,9,10]}"#;
        for (start, expected) in [
            (r#"{"kind":"cat""#, Some(("kind", "cat"))),
            ("{ \"kind\" :\n\"cat\" ", Some(("kind", "cat"))),
            (r#"{"":"""#, Some(("", ""))),
            (r#"{"kind":7"#, None),
            (r#"{"kind":"c\u0061t""#, None),
            (r#"{"k\"ind":"cat""#, None),
            (r#"["kind","cat""#, None),
            ("{", None),
        ] {
            let text = format!("  {start}{rest}");
            assert_eq!(first_text_member(&text, 2), expected, "{start}");
        }
    }
}
