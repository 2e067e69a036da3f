//! Reads what follows a backslash, outside and inside a class.
//!
//! Any ASCII character that is neither letter nor digit may be escaped to itself: published schemas write `\-` and `\@`
//! although unicode mode forbids it. A letter without a meaning is an error. Serves schema compilation.

use regex_syntax::hir::Look;

use super::error::PatternError;
use super::parser::Cursor;
use super::property;
use super::set::CodeSet;

/// What an escape stands for.
pub(super) enum Escape {
    Char(u32),
    Set(CodeSet),
    Look(Look),
}

/// Reads an escape outside a class; `offset` is where its backslash stands.
pub(super) fn escape(cursor: &mut Cursor<'_>, offset: usize) -> Result<Escape, PatternError> {
    match cursor.peek() {
        Some('b') => {
            cursor.bump();
            Ok(Escape::Look(Look::WordAscii))
        }
        Some('B') => {
            cursor.bump();
            Ok(Escape::Look(Look::WordAsciiNegate))
        }
        Some('1'..='9' | 'k') => Err(PatternError::BackReference { offset }),
        _ => common(cursor, offset),
    }
}

/// Reads an escape inside a class, where `\b` is a backspace and nothing looks around.
pub(super) fn class_escape(cursor: &mut Cursor<'_>, offset: usize) -> Result<Escape, PatternError> {
    if cursor.eat('b') {
        return Ok(Escape::Char(0x08));
    }
    common(cursor, offset)
}

fn common(cursor: &mut Cursor<'_>, offset: usize) -> Result<Escape, PatternError> {
    let Some(letter) = cursor.bump() else {
        return Err(PatternError::syntax(offset, "lone backslash"));
    };
    let code = match letter {
        'd' => return Ok(Escape::Set(CodeSet::digit())),
        'D' => return Ok(Escape::Set(CodeSet::digit().negated())),
        'w' => return Ok(Escape::Set(CodeSet::word())),
        'W' => return Ok(Escape::Set(CodeSet::word().negated())),
        's' => return Ok(Escape::Set(CodeSet::space())),
        'S' => return Ok(Escape::Set(CodeSet::space().negated())),
        'p' => return property_escape(cursor, offset, false),
        'P' => return property_escape(cursor, offset, true),
        't' => 0x09,
        'n' => 0x0A,
        'v' => 0x0B,
        'f' => 0x0C,
        'r' => 0x0D,
        '0' => return nul(cursor, offset),
        'c' => control(cursor, offset)?,
        'x' => cursor
            .hex(2)
            .ok_or(PatternError::syntax(offset, "malformed \\x escape"))?,
        'u' => unicode(cursor, offset)?,
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => u32::from(c),
        _ => return Err(PatternError::syntax(offset, "unknown escape")),
    };
    Ok(Escape::Char(code))
}

fn property_escape(
    cursor: &mut Cursor<'_>,
    offset: usize,
    negated: bool,
) -> Result<Escape, PatternError> {
    let inside = if cursor.eat('{') {
        cursor.until('}')
    } else {
        None
    };
    let Some(inside) = inside else {
        return Err(PatternError::syntax(offset, "malformed property escape"));
    };
    let set = property::lookup(inside).ok_or(PatternError::UnknownProperty { offset })?;
    let set = if negated { set.negated() } else { set };
    Ok(Escape::Set(cursor.charge(set)?))
}

fn nul(cursor: &mut Cursor<'_>, offset: usize) -> Result<Escape, PatternError> {
    match cursor.peek() {
        Some('0'..='9') => Err(PatternError::syntax(offset, "octal escape")),
        _ => Ok(Escape::Char(0)),
    }
}

fn control(cursor: &mut Cursor<'_>, offset: usize) -> Result<u32, PatternError> {
    match cursor.bump() {
        Some(letter) if letter.is_ascii_alphabetic() => Ok(u32::from(letter) % 32),
        _ => Err(PatternError::syntax(offset, "malformed \\c escape")),
    }
}

/// `\uHHHH`, a pair of them that forms one code point, or `\u{H…}`.
fn unicode(cursor: &mut Cursor<'_>, offset: usize) -> Result<u32, PatternError> {
    let malformed = PatternError::syntax(offset, "malformed \\u escape");
    if cursor.eat('{') {
        let digits = cursor.until('}').ok_or(malformed)?;
        return braced_code_point(digits).ok_or(malformed);
    }
    let lead = cursor.hex(4).ok_or(malformed)?;
    if !(0xD800..0xDC00).contains(&lead) {
        return Ok(lead);
    }
    let after_lead = cursor.offset();
    if cursor.eat_text("\\u")
        && let Some(trail @ 0xDC00..0xE000) = cursor.hex(4)
    {
        return Ok(0x1_0000 + ((lead - 0xD800) << 10) + (trail - 0xDC00));
    }
    cursor.rewind(after_lead);
    Ok(lead)
}

fn braced_code_point(digits: &str) -> Option<u32> {
    let significant = digits.trim_start_matches('0');
    let valid = !digits.is_empty()
        && significant.len() <= 6
        && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if !valid {
        return None;
    }
    let code = if significant.is_empty() {
        0
    } else {
        u32::from_str_radix(significant, 16).ok()?
    };
    (code <= 0x0010_FFFF).then_some(code)
}
