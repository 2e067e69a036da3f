//! Why a set of edits could not be applied.

use std::fmt;

/// Why edits could not be applied; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditError {
    offset: u32,
    reason: Reason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Overlap,
    OutOfBounds,
    NotAString,
    NotAnObject,
    NotAMember,
    InsideCharacter,
}

impl EditError {
    pub(super) fn new(offset: u32, reason: Reason) -> Self {
        Self { offset, reason }
    }

    /// Where in the original the refused operation starts.
    pub fn offset(&self) -> u32 {
        self.offset
    }

    /// Two operations want the same bytes.
    pub fn is_overlap(&self) -> bool {
        self.reason == Reason::Overlap
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.reason {
            Reason::Overlap => "two edits overlap",
            Reason::OutOfBounds => "an edit lies outside the text",
            Reason::NotAString => "an edit within a string is not on a string",
            Reason::NotAnObject => "a member edit is not on an object",
            Reason::NotAMember => "the member to remove is not in the object",
            Reason::InsideCharacter => "an edit within a string cuts a character or passes its end",
        };
        write!(out, "{what}, at byte {}", self.offset)
    }
}

impl std::error::Error for EditError {}
