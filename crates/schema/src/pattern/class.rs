//! Reads a bracketed class into one set.
//!
//! Nested brackets and POSIX names have no meaning in ECMA-262 and get none here. A hyphen beside an escape such as `\w`
//! is a literal, as in Annex B; between two characters it must form an ascending range. Serves schema compilation.

use super::error::PatternError;
use super::escape::{Escape, class_escape};
use super::parser::Cursor;
use super::set::CodeSet;

/// One member of a class.
enum Member {
    Char(u32),
    Set(CodeSet),
}

/// Reads from behind the opening bracket at `offset` to the closing one.
pub(super) fn class(cursor: &mut Cursor<'_>, offset: usize) -> Result<CodeSet, PatternError> {
    let negated = cursor.eat('^');
    let mut ranges = Vec::new();
    while !cursor.eat(']') {
        let start = cursor.offset();
        let low = member(cursor, offset)?;
        let dash = cursor.offset();
        if !cursor.eat('-') {
            add(&mut ranges, low);
            continue;
        }
        if cursor.peek() == Some(']') {
            cursor.rewind(dash);
            add(&mut ranges, low);
            continue;
        }
        match (low, member(cursor, offset)?) {
            (Member::Char(low), Member::Char(high)) if low <= high => ranges.push((low, high)),
            (Member::Char(_), Member::Char(_)) => {
                return Err(PatternError::syntax(start, "range out of order"));
            }
            (low, high) => {
                add(&mut ranges, low);
                add(&mut ranges, Member::Char(u32::from('-')));
                add(&mut ranges, high);
            }
        }
    }
    let set = CodeSet::new(ranges);
    cursor.charge(if negated { set.negated() } else { set })
}

fn member(cursor: &mut Cursor<'_>, class: usize) -> Result<Member, PatternError> {
    let offset = cursor.offset();
    match cursor.bump() {
        None => Err(PatternError::syntax(class, "unclosed class")),
        Some('\\') => match class_escape(cursor, offset)? {
            Escape::Char(code) => Ok(Member::Char(code)),
            Escape::Set(set) => Ok(Member::Set(set)),
            Escape::Look(_) => Err(PatternError::syntax(offset, "assertion inside a class")),
        },
        Some(literal) => Ok(Member::Char(u32::from(literal))),
    }
}

fn add(ranges: &mut Vec<(u32, u32)>, member: Member) {
    match member {
        Member::Char(code) => ranges.push((code, code)),
        Member::Set(set) => ranges.extend_from_slice(set.ranges()),
    }
}
