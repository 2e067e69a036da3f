//! Why bytes were refused, as one opaque value: the kind is private, callers ask predicates.
//! Messages name what was expected and where, never what the input said.

use std::fmt;

/// Why an input is not a tape or not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    offset: usize,
    reason: Reason,
}

/// The same refusals, met by a [`Scan`](crate::Scan).
pub type ScanError = ParseError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    TooLarge,
    TooDeep,
    NotUtf8,
    Value,
    Key,
    Colon,
    CommaOrBrace,
    CommaOrBracket,
    End,
    Control,
    Escape,
    UnterminatedString,
    Number,
    Stopped,
}

impl ParseError {
    #[cold]
    pub(crate) fn new(offset: usize, reason: Reason) -> Self {
        Self { offset, reason }
    }

    /// A [`Sink`](crate::Sink) wants no more of the text. Nothing need be wrong with it.
    #[cold]
    pub fn stopped(offset: usize) -> Self {
        Self::new(offset, Reason::Stopped)
    }

    /// Byte offset of the first thing that is wrong.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The input has more bytes than the limit allows.
    pub fn is_too_large(&self) -> bool {
        self.reason == Reason::TooLarge
    }

    /// The input nests deeper than the limit allows.
    pub fn is_too_deep(&self) -> bool {
        self.reason == Reason::TooDeep
    }

    /// The input is not UTF-8.
    pub fn is_not_utf8(&self) -> bool {
        self.reason == Reason::NotUtf8
    }

    /// The input is UTF-8 but not JSON.
    pub fn is_syntax(&self) -> bool {
        !matches!(
            self.reason,
            Reason::TooLarge | Reason::TooDeep | Reason::NotUtf8 | Reason::Stopped
        )
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.reason {
            Reason::TooLarge => "more bytes than the limit allows",
            Reason::TooDeep => "nested deeper than the limit allows",
            Reason::NotUtf8 => "not UTF-8",
            Reason::Value => "expected a value",
            Reason::Key => "expected a member name",
            Reason::Colon => "expected `:`",
            Reason::CommaOrBrace => "expected `,` or `}`",
            Reason::CommaOrBracket => "expected `,` or `]`",
            Reason::End => "expected the end of the input",
            Reason::Control => "control character in a string",
            Reason::Escape => "invalid escape in a string",
            Reason::UnterminatedString => "unterminated string",
            Reason::Number => "invalid number",
            Reason::Stopped => "not read on",
        };
        write!(out, "{what} at byte {}", self.offset)
    }
}

impl std::error::Error for ParseError {}
