//! A range of bytes in one message, and the members and elements inside such a range.
//! Everything here reads text that was checked before: it allocates nothing, never panics, and on bytes that
//! are not JSON simply ends early.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use crate::grammar::{Text, narrow, skip_space};
use crate::kind::Kind;
use crate::number::scan_number;
use crate::string::{end_of_string, unescape};

/// A range of bytes: `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset just past the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end`.
    #[inline]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// All of `bytes`, up to the 4 GiB that spans can address.
    pub fn whole(bytes: &[u8]) -> Self {
        Self::new(0, u32::try_from(bytes.len()).unwrap_or(u32::MAX))
    }

    #[inline]
    pub(crate) const fn from_range(start: usize, end: usize) -> Self {
        Self {
            start: narrow(start),
            end: narrow(end),
        }
    }

    /// Number of bytes.
    #[inline]
    pub const fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether there are no bytes.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The span as a range of offsets.
    #[inline]
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The bytes of the span; empty when it does not lie within `bytes`.
    #[inline]
    pub fn bytes(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.range()).unwrap_or_default()
    }

    /// The span of a part of this span, given relative to its start.
    #[inline]
    #[must_use]
    pub const fn inner(self, part: Self) -> Self {
        Self {
            start: self.start.saturating_add(part.start),
            end: self.start.saturating_add(part.end),
        }
    }

    /// What the value of the span is, judged by its first byte.
    pub fn kind(self, bytes: &[u8]) -> Option<Kind> {
        Some(match self.bytes(bytes).first()? {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b't' => Kind::True,
            b'f' => Kind::False,
            b'n' => Kind::Null,
            b'-' | b'0'..=b'9' => Kind::Number,
            _ => return None,
        })
    }

    /// The decoded text, if the span is a string; lone surrogates become U+FFFD.
    pub fn string(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        let [b'"', inside @ .., b'"'] = self.bytes(bytes) else {
            return None;
        };
        std::str::from_utf8(inside).ok().map(unescape)
    }

    /// Whether the span is a string that decodes to this text. Most strings have no escapes, and are only compared.
    ///
    /// ```
    /// use countersign_tape::Span;
    /// let is_text = |json: &str, text| Span::whole(json.as_bytes()).is_text(json.as_bytes(), text);
    /// assert!(is_text(r#""name""#, "name") && is_text(r#""n\u0061me""#, "name"));
    /// assert!(!is_text(r#""a\n""#, r"a\n") && !is_text("7", "7"));
    /// ```
    pub fn is_text(self, bytes: &[u8], text: &str) -> bool {
        let [b'"', inside @ .., b'"'] = self.bytes(bytes) else {
            return false;
        };
        // An escape is longer than what it stands for.
        match inside.len().cmp(&text.len()) {
            Ordering::Less => false,
            Ordering::Equal => inside == text.as_bytes() && !inside.contains(&b'\\'),
            Ordering::Greater => {
                inside.contains(&b'\\') && self.string(bytes).is_some_and(|decoded| decoded == text)
            }
        }
    }
}

/// The members of the object at `span`, as (key with its quotes, value). Nothing if it is not an object.
///
/// ```
/// use countersign_tape::{Span, members};
/// let text = br#"{"a": [1, 2], "b": "x"}"#;
/// let all: Vec<_> = members(text, Span::whole(text)).map(|(key, value)| (key.bytes(text), value.bytes(text))).collect();
/// assert_eq!(all, [(&b"\"a\""[..], &b"[1, 2]"[..]), (&b"\"b\""[..], &b"\"x\""[..])]);
/// ```
pub fn members(bytes: &[u8], span: Span) -> RawMembers<'_> {
    RawMembers {
        items: Items::new(bytes, span, b'{'),
    }
}

/// The elements of the array at `span`. Nothing if it is not an array.
///
/// ```
/// use countersign_tape::{Span, elements};
/// let text = b"[1, {}]";
/// let all: Vec<_> = elements(text, Span::whole(text)).map(|element| element.bytes(text)).collect();
/// assert_eq!(all, [b"1", &b"{}"[..]]);
/// ```
pub fn elements(bytes: &[u8], span: Span) -> RawElements<'_> {
    RawElements {
        items: Items::new(bytes, span, b'['),
    }
}

/// Iterator of [`members`].
#[derive(Debug, Clone)]
pub struct RawMembers<'a> {
    items: Items<'a>,
}

/// Iterator of [`elements`].
#[derive(Debug, Clone)]
pub struct RawElements<'a> {
    items: Items<'a>,
}

impl Iterator for RawMembers<'_> {
    type Item = (Span, Span);

    fn next(&mut self) -> Option<(Span, Span)> {
        let key = self.items.value()?;
        self.items.step(b':')?;
        let value = self.items.value()?;
        self.items.separator();
        Some((key, value))
    }
}

impl Iterator for RawElements<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let value = self.items.value()?;
        self.items.separator();
        Some(value)
    }
}

/// The inside of one container, value by value.
#[derive(Debug, Clone)]
struct Items<'a> {
    bytes: &'a [u8],
    /// Where the next value or its whitespace starts; past the end when there is none.
    at: usize,
    end: usize,
}

impl<'a> Items<'a> {
    fn new(bytes: &'a [u8], span: Span, opening: u8) -> Self {
        let range = span.range();
        let opens = bytes.get(range.clone()).and_then(<[u8]>::first) == Some(&opening);
        let at = if opens { range.start + 1 } else { range.end };
        Self {
            bytes,
            at,
            end: range.end,
        }
    }

    fn value(&mut self) -> Option<Span> {
        let start = skip_space(self.bytes, self.at);
        let end = if start < self.end {
            skip_checked(self.bytes, start)
        } else {
            None
        };
        if let Some(end) = end {
            self.at = end;
            return Some(Span::from_range(start, end));
        }
        self.at = self.end;
        None
    }

    fn step(&mut self, byte: u8) -> Option<()> {
        let at = skip_space(self.bytes, self.at);
        (self.bytes.get(at) == Some(&byte)).then(|| self.at = at + 1)
    }

    fn separator(&mut self) {
        if self.step(b',').is_none() {
            self.at = self.end;
        }
    }
}

/// The end of the checked value at `start`. Nesting is a number here, because brackets are known to match.
fn skip_checked(bytes: &[u8], start: usize) -> Option<usize> {
    let text = Text { bytes };
    let mut at = start;
    let mut level = 0_usize;
    loop {
        at = match bytes.get(at)? {
            b'"' => text.offset(end_of_string(text, text.from(at + 1)).ok()?.0),
            b'{' | b'[' => {
                level += 1;
                at + 1
            }
            b'}' | b']' => {
                level = level.checked_sub(1)?;
                at + 1
            }
            b'-' | b'0'..=b'9' => text.offset(scan_number(text, text.from(at)).ok()?.behind),
            b't' | b'n' => at + 4,
            b'f' => at + 5,
            b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if level > 0 => at + 1,
            _ => return None,
        };
        if level == 0 {
            return (at <= bytes.len()).then_some(at);
        }
    }
}
