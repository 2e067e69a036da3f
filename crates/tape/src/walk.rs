//! The JSON grammar, once: one loop over the bytes that tells a sink what it meets.
//! It never recurses and holds no state about nesting: the sink remembers what is open, in as few bits as
//! it needs. The tape and the skipper are the two sinks.

use crate::error::{ParseError, Reason};
use crate::grammar::{literal, skip_space};
use crate::node::{Kind, NOT_INTEGER};
use crate::number::scan_number;
use crate::string::scan_string;

/// Where the walk is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    Nothing,
    Array,
    Object,
}

/// What a walk reports to. Spans are offsets; `meta` is a kind with the flags of a node.
pub(crate) trait Sink {
    /// A scalar that is not a string, or an empty container.
    fn leaf(&mut self, start: usize, end: usize, meta: u32);
    /// A string value, quotes included.
    fn string(&mut self, start: usize, end: usize, flags: u32);
    /// A member name, quotes included.
    fn key(&mut self, start: usize, end: usize, flags: u32);
    /// A container with at least one child.
    fn open(&mut self, start: usize, kind: Kind) -> Result<(), ParseError>;
    /// Another child of the innermost container follows.
    fn comma(&mut self) -> Result<(), ParseError>;
    /// The innermost container ends just before `end`.
    fn close(&mut self, end: usize);
    /// What the innermost open container is.
    fn inside(&self) -> Inside;
}

/// What is due at an offset.
enum Due {
    Value(usize),
    Key(usize),
    Nothing(usize),
}

/// Walk the value at `at` (no whitespace before it) and return where it ends.
#[inline]
pub(crate) fn walk<S: Sink>(bytes: &[u8], at: usize, sink: &mut S) -> Result<usize, ParseError> {
    let mut due = Due::Value(at);
    loop {
        let at = match due {
            Due::Value(at) => at,
            Due::Key(at) => key(bytes, at, sink)?,
            Due::Nothing(end) => return Ok(end),
        };
        let end = match bytes.get(at) {
            Some(b'"') => string(bytes, at, sink)?,
            Some(b'{') => {
                let inner = skip_space(bytes, at + 1);
                if bytes.get(inner) != Some(&b'}') {
                    sink.open(at, Kind::Object)?;
                    due = Due::Key(inner);
                    continue;
                }
                leaf(at, inner + 1, Kind::Object, sink)
            }
            Some(b'[') => {
                let inner = skip_space(bytes, at + 1);
                if bytes.get(inner) != Some(&b']') {
                    sink.open(at, Kind::Array)?;
                    due = Due::Value(inner);
                    continue;
                }
                leaf(at, inner + 1, Kind::Array, sink)
            }
            Some(b'-' | b'0'..=b'9') => number(bytes, at, sink)?,
            Some(b't') => leaf(at, literal(bytes, at, b"true")?, Kind::True, sink),
            Some(b'f') => leaf(at, literal(bytes, at, b"false")?, Kind::False, sink),
            Some(b'n') => leaf(at, literal(bytes, at, b"null")?, Kind::Null, sink),
            _ => return Err(ParseError::new(at, Reason::Value)),
        };
        due = after_value(bytes, end, sink)?;
    }
}

/// Close what ends here and say what comes next.
#[inline]
fn after_value<S: Sink>(bytes: &[u8], mut at: usize, sink: &mut S) -> Result<Due, ParseError> {
    loop {
        match sink.inside() {
            Inside::Nothing => return Ok(Due::Nothing(at)),
            Inside::Object => {
                at = skip_space(bytes, at);
                match bytes.get(at) {
                    Some(b',') => {
                        sink.comma()?;
                        return Ok(Due::Key(skip_space(bytes, at + 1)));
                    }
                    Some(b'}') => {}
                    _ => return Err(ParseError::new(at, Reason::CommaOrBrace)),
                }
            }
            Inside::Array => {
                at = skip_space(bytes, at);
                match bytes.get(at) {
                    Some(b',') => {
                        sink.comma()?;
                        return Ok(Due::Value(skip_space(bytes, at + 1)));
                    }
                    Some(b']') => {}
                    _ => return Err(ParseError::new(at, Reason::CommaOrBracket)),
                }
            }
        }
        at += 1;
        sink.close(at);
    }
}

#[inline]
fn leaf<S: Sink>(start: usize, end: usize, kind: Kind, sink: &mut S) -> usize {
    sink.leaf(start, end, kind as u32);
    end
}

#[inline]
fn number<S: Sink>(bytes: &[u8], at: usize, sink: &mut S) -> Result<usize, ParseError> {
    let number = scan_number(bytes, at)?;
    let flag = if number.integer { 0 } else { NOT_INTEGER };
    sink.leaf(at, number.end, Kind::Number as u32 | flag);
    Ok(number.end)
}

#[inline]
fn string<S: Sink>(bytes: &[u8], at: usize, sink: &mut S) -> Result<usize, ParseError> {
    let string = scan_string(bytes, at + 1)?;
    sink.string(at, string.close + 1, string.flags);
    Ok(string.close + 1)
}

/// A member name and its colon; returns where the value starts.
#[inline]
fn key<S: Sink>(bytes: &[u8], at: usize, sink: &mut S) -> Result<usize, ParseError> {
    let string = key_string(bytes, at)?;
    sink.key(at, string.close + 1, string.flags);
    colon(bytes, string.close + 1)
}

/// The string of a member name at `at`.
#[inline]
pub(crate) fn key_string(bytes: &[u8], at: usize) -> Result<crate::string::Scanned, ParseError> {
    if bytes.get(at) != Some(&b'"') {
        return Err(ParseError::new(at, Reason::Key));
    }
    scan_string(bytes, at + 1)
}

/// Step over the colon after a member name that ends at `at`.
#[inline]
pub(crate) fn colon(bytes: &[u8], at: usize) -> Result<usize, ParseError> {
    let colon = skip_space(bytes, at);
    if bytes.get(colon) != Some(&b':') {
        return Err(ParseError::new(colon, Reason::Colon));
    }
    Ok(skip_space(bytes, colon + 1))
}
