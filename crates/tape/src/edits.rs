//! Changes to a JSON text that leave every other byte as it was written.
//! Operations are collected in any order and applied once; what they do not touch is borrowed from the
//! original. Two operations that want the same bytes are an error, and nothing is ever re-serialised.

use std::ops::Range;

use crate::span::Span;

mod error;
mod object;
mod segments;
mod text;

pub use error::EditError;
pub use segments::{EditedText, Segment};

/// Where [`Edits::insert_member`] puts a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberPosition {
    /// Before all other members.
    First,
    /// After all other members.
    Last,
}

/// Operations on one checked JSON text.
///
/// ```
/// use countersign_tape::{Edits, MemberPosition, Span, members};
///
/// let original = br#"{"name":"caf\u00e9 <b>","id": 1}"#;
/// let object = Span::whole(original);
/// let (_, name) = members(original, object).next().expect("a member");
/// let mut edits = Edits::new(original);
/// edits.replace_within_string(name, 6..9, "[b]");
/// edits.insert_member(object, MemberPosition::Last, "ok", b"true");
/// let edited = edits.apply()?;
/// assert_eq!(edited.to_vec(), br#"{"name":"caf\u00e9 [b]","id": 1,"ok":true}"#);
/// # Ok::<(), countersign_tape::EditError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Edits<'a> {
    original: &'a [u8],
    replacements: Vec<Patch>,
    within: Vec<text::StringEdit>,
    objects: Vec<object::ObjectChange>,
}

/// Bytes that replace a span of the original.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Patch {
    span: Span,
    with: Vec<u8>,
}

impl Patch {
    fn new(start: u32, end: u32, with: impl Into<Vec<u8>>) -> Self {
        let (span, with) = (Span::new(start, end), with.into());
        Self { span, with }
    }
}

impl<'a> Edits<'a> {
    /// No operations yet.
    pub fn new(original: &'a [u8]) -> Self {
        Self {
            original,
            replacements: Vec::new(),
            within: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// Whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.replacements.is_empty() && self.within.is_empty() && self.objects.is_empty()
    }

    /// Replace a span by raw bytes. They are not checked: give a whole JSON value for a value's span.
    pub fn replace(&mut self, span: Span, with: impl Into<Vec<u8>>) {
        let patch = Patch::new(span.start, span.end, with);
        self.replacements.push(patch);
    }

    /// Replace a part of a string value or key. `string` is its span with quotes, `decoded` a range of bytes
    /// of its decoded UTF-8, on character boundaries. Escapes outside the range stay as they are.
    pub fn replace_within_string(&mut self, string: Span, decoded: Range<usize>, text: &str) {
        self.within.push(text::StringEdit {
            string,
            decoded,
            text: text.to_owned(),
        });
    }

    /// Remove the member whose key (with quotes) stands at `key` from the object at `object`.
    pub fn remove_member(&mut self, object: Span, key: Span) {
        self.objects.push(object::ObjectChange {
            object,
            what: object::MemberChange::Remove(key),
        });
    }

    /// Add a member to the object at `object`. `name` is plain text, `value` raw JSON, which is not checked.
    pub fn insert_member(&mut self, object: Span, place: MemberPosition, name: &str, value: &[u8]) {
        let mut member = Vec::with_capacity(name.len() + value.len() + 3);
        crate::string::quote_into(name, &mut member);
        member.push(b':');
        member.extend_from_slice(value);
        self.insert_raw_members(object, place, member);
    }

    /// Add members to the object at `object`. `members` is raw JSON, which is not checked: at least one member, with commas
    /// between them.
    pub fn insert_raw_members(&mut self, object: Span, place: MemberPosition, members: Vec<u8>) {
        self.objects.push(object::ObjectChange {
            object,
            what: object::MemberChange::Insert(place, members),
        });
    }

    /// Apply all operations at once.
    pub fn apply(mut self) -> Result<EditedText<'a>, EditError> {
        let mut patches = std::mem::take(&mut self.replacements);
        text::patches(self.original, &mut self.within, &mut patches)?;
        object::patches(self.original, &mut self.objects, &mut patches)?;
        // A stable sort: insertions at one place keep the order they were asked for.
        patches.sort_by_key(|patch| (patch.span.start, patch.span.end));
        segments::assemble(self.original, patches)
    }
}
