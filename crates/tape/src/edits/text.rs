//! Edits inside strings: ranges of decoded text become ranges of raw bytes.
//! All edits of one string are placed in one walk over it, so many hits in a long string stay linear.

use std::ops::Range;

use super::Patch;
use super::error::{EditError, Reason};
use crate::span::Span;
use crate::string::{code_unit, decode_escape, escape_into};

/// Replace a range of a string's decoded bytes.
#[derive(Debug, Clone)]
pub(super) struct StringEdit {
    pub(super) string: Span,
    pub(super) decoded: Range<usize>,
    pub(super) text: String,
}

/// Turn edits within strings into patches of raw bytes.
pub(super) fn patches(
    original: &[u8],
    edits: &mut [StringEdit],
    patches: &mut Vec<Patch>,
) -> Result<(), EditError> {
    edits.sort_by_key(|edit| (edit.string, edit.decoded.start, edit.decoded.end));
    for group in edits.chunk_by(|one, other| one.string == other.string) {
        let Some(string) = group.first().map(|edit| edit.string) else {
            continue;
        };
        let [b'"', raw @ .., b'"'] = string.bytes(original) else {
            return Err(EditError::new(string.start, Reason::NotAString));
        };
        for piece in pieces(raw, group)? {
            let inside = Span::from_range(piece.raw.start + 1, piece.raw.end + 1);
            let Span { start, end } = string.inner(inside);
            patches.push(Patch::new(start, end, piece.with));
        }
    }
    Ok(())
}

/// Raw bytes of one string to be replaced.
struct Piece {
    raw: Range<usize>,
    with: Vec<u8>,
    /// The raw text before it ends in a high surrogate without partner.
    after_high: bool,
}

/// The pieces for the sorted edits of one string; those that touch become one.
fn pieces(raw: &[u8], edits: &[StringEdit]) -> Result<Vec<Piece>, EditError> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(edits.len());
    let mut walk = Walk {
        raw,
        at: 0,
        decoded: 0,
        high: false,
    };
    for edit in edits {
        if edit.decoded.start < walk.decoded {
            return Err(EditError::new(edit.string.start, Reason::Overlap));
        }
        let refuse = || EditError::new(edit.string.start, Reason::InsideCharacter);
        let start = walk.advance_to(edit.decoded.start).ok_or_else(refuse)?;
        let after_high = walk.high;
        let end = walk.advance_to(edit.decoded.end).ok_or_else(refuse)?;
        match pieces.last_mut() {
            Some(last) if last.raw.end == start => {
                last.raw.end = end;
                escape_into(&edit.text, &mut last.with);
            }
            _ => {
                let mut with = Vec::with_capacity(edit.text.len());
                escape_into(&edit.text, &mut with);
                pieces.push(Piece {
                    raw: start..end,
                    with,
                    after_high,
                });
            }
        }
    }
    for piece in &mut pieces {
        keep_surrogates_apart(raw, piece);
    }
    Ok(pieces)
}

/// Deleting what stands between two lone surrogates would make them one character that no check has seen. The
/// second becomes the replacement character it decodes to.
fn keep_surrogates_apart(raw: &[u8], piece: &mut Piece) {
    if piece.after_high
        && piece.with.is_empty()
        && let Some(0xDC00..=0xDFFF) = code_unit(raw, piece.raw.end)
    {
        piece.raw.end += 6;
        piece.with.extend_from_slice(br"\ufffd");
    }
}

/// A position in a string, raw and decoded at once.
struct Walk<'a> {
    raw: &'a [u8],
    at: usize,
    decoded: usize,
    /// The last thing passed is a high surrogate without partner.
    high: bool,
}

impl Walk<'_> {
    /// Go forward to a decoded offset and return the raw one; nothing if it cuts a character.
    fn advance_to(&mut self, decoded: usize) -> Option<usize> {
        while self.decoded < decoded {
            if self.raw.get(self.at)? == &b'\\' {
                self.escape();
            } else {
                self.pass_plain(decoded - self.decoded);
            }
        }
        let cuts = self
            .raw
            .get(self.at)
            .is_some_and(|byte| byte & 0xC0 == 0x80);
        (self.decoded == decoded && !cuts).then_some(self.at)
    }

    fn escape(&mut self) {
        self.high = matches!(code_unit(self.raw, self.at), Some(0xD800..=0xDBFF));
        let (used, character) = decode_escape(self.raw, self.at);
        // A pair is one character of twelve bytes, and leaves nothing alone.
        self.high &= used == 6;
        self.at += used;
        self.decoded += character.len_utf8();
    }

    /// Pass at most `limit` bytes that are not escapes.
    fn pass_plain(&mut self, limit: usize) {
        let rest = self.raw.get(self.at..).unwrap_or_default();
        let run = rest
            .iter()
            .take(limit)
            .take_while(|&&byte| byte != b'\\')
            .count();
        self.at += run;
        self.decoded += run;
        self.high = false;
    }
}
