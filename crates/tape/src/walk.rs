//! The JSON grammar, once: one loop over the bytes that tells a sink what it meets.
//! It never recurses and holds no state about nesting: the sink remembers what is open, in as few bits as
//! it needs. The tape and the skipper are the two sinks.
#![expect(
    clippy::inline_always,
    reason = "the loop asks these for every value; as calls they cost as much as they do"
)]

use crate::error::{ParseError, Reason};
use crate::grammar::{Token, literal};
use crate::node::{Kind, NOT_INTEGER};
use crate::number::scan_number;
use crate::string::{Scanned, scan_string};

/// What can have children.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Array,
    Object,
}

impl Container {
    /// What this byte opens.
    #[inline]
    const fn of(byte: u8) -> Self {
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

/// What a walk reports to. Spans are offsets; `meta` is a kind with the flags of a node.
pub(crate) trait Sink {
    /// A scalar that is not a string, or an empty container.
    fn leaf(&mut self, start: usize, end: usize, meta: u32);
    /// A string value, quotes included.
    fn string(&mut self, start: usize, end: usize, flags: u32);
    /// A member name, quotes included.
    fn key(&mut self, start: usize, end: usize, flags: u32);
    /// A container with at least one child.
    fn open(&mut self, start: usize, container: Container) -> Result<(), ParseError>;
    /// Another child of the innermost container follows.
    fn comma(&mut self) -> Result<(), ParseError>;
    /// The innermost container ends just before `end`; returns the one around it.
    fn close(&mut self, end: usize) -> Option<Container>;
}

/// Walk the value at `at` (no whitespace before it) and return where it ends.
#[inline]
pub(crate) fn walk<S: Sink>(bytes: &[u8], at: usize, sink: &mut S) -> Result<usize, ParseError> {
    let mut due = Token::at(bytes, at);
    let mut inside = Container::of(due.byte);
    due = match begin(bytes, due, sink)? {
        Begun::Opened(first) => first,
        Begun::Ended(end) => return Ok(end),
    };
    loop {
        if inside == Container::Object {
            due = key(bytes, due, sink)?;
        }
        if let Some(first) = opened(bytes, due, sink)? {
            inside = Container::of(due.byte);
            due = first;
            continue;
        }
        let mut next = Token::after(bytes, childless(bytes, due, sink)?);
        while next.byte != b',' {
            if next.byte != inside.closer() {
                return Err(ParseError::new(next.at, inside.expected()));
            }
            let end = next.at + 1;
            match sink.close(end) {
                Some(outer) => inside = outer,
                None => return Ok(end),
            }
            next = Token::after(bytes, end);
        }
        sink.comma()?;
        due = Token::after(bytes, next.at + 1);
    }
}

/// What there is after the first step.
enum Begun {
    /// A container is open, and this is the first byte inside.
    Opened(Token),
    /// The value has no children and ends here.
    Ended(usize),
}

/// The first step of a walk, apart from the others so that those can be in line.
#[inline(never)]
fn begin<S: Sink>(bytes: &[u8], token: Token, sink: &mut S) -> Result<Begun, ParseError> {
    Ok(match opened(bytes, token, sink)? {
        Some(first) => Begun::Opened(first),
        None => Begun::Ended(childless(bytes, token, sink)?),
    })
}

/// If a container with children begins here, open it and return the first byte inside.
#[inline(always)]
fn opened<S: Sink>(bytes: &[u8], at: Token, sink: &mut S) -> Result<Option<Token>, ParseError> {
    if at.byte != b'{' && at.byte != b'[' {
        return Ok(None);
    }
    let container = Container::of(at.byte);
    let first = Token::after(bytes, at.at + 1);
    if first.byte == container.closer() {
        return Ok(None);
    }
    sink.open(at.at, container)?;
    Ok(Some(first))
}

/// A scalar or an empty container; returns where it ends.
#[inline(always)]
fn childless<S: Sink>(bytes: &[u8], token: Token, sink: &mut S) -> Result<usize, ParseError> {
    let at = token.at;
    let (end, kind) = match token.byte {
        b'"' => return string(bytes, at, sink),
        b'-' | b'0'..=b'9' => return number(bytes, token, sink),
        b't' => (literal(bytes, at, b"true")?, Kind::True),
        b'f' => (literal(bytes, at, b"false")?, Kind::False),
        b'n' => (literal(bytes, at, b"null")?, Kind::Null),
        b'{' => (Token::after(bytes, at + 1).at + 1, Kind::Object),
        b'[' => (Token::after(bytes, at + 1).at + 1, Kind::Array),
        _ => return Err(ParseError::new(at, Reason::Value)),
    };
    sink.leaf(at, end, kind as u32);
    Ok(end)
}

#[inline(always)]
fn number<S: Sink>(bytes: &[u8], token: Token, sink: &mut S) -> Result<usize, ParseError> {
    let number = scan_number(bytes, token)?;
    let flag = if number.integer { 0 } else { NOT_INTEGER };
    sink.leaf(token.at, number.end, Kind::Number as u32 | flag);
    Ok(number.end)
}

#[inline(always)]
fn string<S: Sink>(bytes: &[u8], at: usize, sink: &mut S) -> Result<usize, ParseError> {
    let string = scan_string(bytes, at + 1)?;
    sink.string(at, string.close + 1, string.flags);
    Ok(string.close + 1)
}

/// A member name and its colon; returns the first of its value.
#[inline]
fn key<S: Sink>(bytes: &[u8], token: Token, sink: &mut S) -> Result<Token, ParseError> {
    let string = key_string(bytes, token)?;
    sink.key(token.at, string.close + 1, string.flags);
    colon(bytes, string.close + 1)
}

/// The string of a member name.
#[inline]
pub(crate) fn key_string(bytes: &[u8], token: Token) -> Result<Scanned, ParseError> {
    if token.byte != b'"' {
        return Err(ParseError::new(token.at, Reason::Key));
    }
    scan_string(bytes, token.at + 1)
}

/// Step over the colon after a member name that ends at `at`.
#[inline]
pub(crate) fn colon(bytes: &[u8], at: usize) -> Result<Token, ParseError> {
    let colon = Token::after(bytes, at);
    if colon.byte != b':' {
        return Err(ParseError::new(colon.at, Reason::Colon));
    }
    Ok(Token::after(bytes, colon.at + 1))
}
