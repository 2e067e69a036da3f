//! Reads ECMA-262 pattern syntax in unicode mode into a tree.
//!
//! An explicit stack of open groups, capped in depth; no native recursion. Where unicode mode is stricter than the
//! patterns people publish (a lone brace, an escaped `-` or `@`), the reading of Annex B is taken. Never guesses at
//! another dialect: `\A`, `\Z`, `(?i)` and `(?P<…>)` are errors, not approximations. Serves schema compilation.

use regex_syntax::hir::Look;

use super::ast::Node;
use super::error::PatternError;
use super::escape::{Escape, escape};
use super::set::CodeSet;
use super::{PatternLimits, class};

/// No caller may lift nesting above this: later walks over the tree recurse.
const DEEPEST: usize = 100;

const NOTHING_TO_REPEAT: &str = "nothing to repeat";

/// Parses a whole pattern.
pub(super) fn parse(source: &str, limits: &PatternLimits) -> Result<Node, PatternError> {
    if source.len() > limits.max_bytes {
        return Err(PatternError::too_large("length"));
    }
    let mut cursor = Cursor::new(source, limits);
    let deepest = limits.max_nesting.min(DEEPEST);
    let mut groups = Vec::new();
    let mut open = Group::default();
    loop {
        let offset = cursor.offset();
        match cursor.bump() {
            None if groups.is_empty() => return Ok(open.close()),
            None => return Err(PatternError::syntax(offset, "unclosed group")),
            Some('(') => {
                group_head(&mut cursor, offset)?;
                if groups.len() >= deepest {
                    return Err(PatternError::too_large("nesting"));
                }
                groups.push(std::mem::take(&mut open));
            }
            Some(')') => {
                let outer = groups
                    .pop()
                    .ok_or(PatternError::syntax(offset, "unmatched parenthesis"))?;
                let body = std::mem::replace(&mut open, outer).close();
                open.push(quantified(&mut cursor, body)?);
            }
            Some('|') => open.branch(),
            Some(first) => open.push(atom(&mut cursor, first, offset)?),
        }
    }
}

/// A group whose closing parenthesis has not been seen.
#[derive(Default)]
struct Group {
    branches: Vec<Node>,
    items: Vec<Node>,
}

impl Group {
    fn push(&mut self, node: Node) {
        match node {
            Node::Empty => {}
            Node::Concat(items) => self.items.extend(items),
            node => self.items.push(node),
        }
    }

    fn branch(&mut self) {
        let items = std::mem::take(&mut self.items);
        self.branches.push(Node::concat(items));
    }

    fn close(mut self) -> Node {
        if self.branches.is_empty() {
            return Node::concat(self.items);
        }
        self.branch();
        Node::alternate(self.branches)
    }
}

/// Reads what follows an opening parenthesis up to the body of the group.
fn group_head(cursor: &mut Cursor<'_>, offset: usize) -> Result<(), PatternError> {
    if !cursor.eat('?') || cursor.eat(':') {
        return Ok(());
    }
    if cursor.eat('=') || cursor.eat('!') {
        return Err(PatternError::LookAround { offset });
    }
    if !cursor.eat('<') {
        return Err(PatternError::syntax(offset, "unknown kind of group"));
    }
    if cursor.eat('=') || cursor.eat('!') {
        return Err(PatternError::LookAround { offset });
    }
    let mut first = true;
    while let Some(c) = cursor.bump() {
        match c {
            '>' if !first => return Ok(()),
            '$' | '_' => {}
            c if c.is_alphabetic() || (!first && c.is_alphanumeric()) => {}
            _ => break,
        }
        first = false;
    }
    Err(PatternError::syntax(offset, "malformed group name"))
}

/// Reads one term that is not a group, with its quantifier.
fn atom(cursor: &mut Cursor<'_>, first: char, offset: usize) -> Result<Node, PatternError> {
    let node = match first {
        '^' => return Ok(Node::Look(Look::Start)),
        '$' => return Ok(Node::Look(Look::End)),
        '*' | '+' | '?' => return Err(PatternError::syntax(offset, NOTHING_TO_REPEAT)),
        '{' if cursor.braces_from(offset)?.is_some() => {
            return Err(PatternError::syntax(offset, NOTHING_TO_REPEAT));
        }
        '.' => Node::Set(CodeSet::dot()),
        '[' => Node::Set(class::class(cursor, offset)?),
        '\\' => match escape(cursor, offset)? {
            Escape::Look(look) => return Ok(Node::Look(look)),
            Escape::Char(code) => Node::Char(code),
            Escape::Set(set) => Node::Set(set),
        },
        literal => Node::Char(u32::from(literal)),
    };
    quantified(cursor, node)
}

/// Wraps `node` in the quantifier that follows it, if one does.
fn quantified(cursor: &mut Cursor<'_>, node: Node) -> Result<Node, PatternError> {
    let offset = cursor.offset();
    let (min, max) = match cursor.peek() {
        Some('*') => (0, None),
        Some('+') => (1, None),
        Some('?') => (0, Some(1)),
        Some('{') => match cursor.braces_from(offset)? {
            Some(braces) => {
                cursor.at = braces.end;
                cursor.eat('?');
                return Ok(Node::repeat(node, braces.min, braces.max));
            }
            None => return Ok(node),
        },
        _ => return Ok(node),
    };
    cursor.bump();
    cursor.eat('?');
    Ok(Node::repeat(node, min, max))
}

/// A counted quantifier and where it ends.
struct Braces {
    min: u32,
    max: Option<u32>,
    end: usize,
}

/// A place in the pattern.
pub(super) struct Cursor<'s> {
    source: &'s str,
    at: usize,
    /// How many more ranges the sets of this pattern may hold before merging: memory stays bounded while parsing.
    ranges_left: usize,
}

impl<'s> Cursor<'s> {
    fn new(source: &'s str, limits: &PatternLimits) -> Self {
        Self {
            source,
            at: 0,
            ranges_left: limits.max_compiled / size_of::<(u32, u32)>(),
        }
    }

    pub(super) fn offset(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// Consumes `text` if it comes next.
    pub(super) fn eat_text(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Consumes up to the first `end` and returns what lies before it.
    pub(super) fn until(&mut self, end: char) -> Option<&'s str> {
        let (inside, _) = self.rest().split_once(end)?;
        self.at += inside.len() + end.len_utf8();
        Some(inside)
    }

    /// Consumes exactly `count` hexadecimal digits.
    pub(super) fn hex(&mut self, count: usize) -> Option<u32> {
        let digits = self.rest().get(..count)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.at += count;
        u32::from_str_radix(digits, 16).ok()
    }

    /// Goes back to an earlier offset.
    pub(super) fn rewind(&mut self, offset: usize) {
        self.at = offset;
    }

    /// Charges a set against the ranges this pattern may still use.
    pub(super) fn charge(&mut self, set: CodeSet) -> Result<CodeSet, PatternError> {
        match self.ranges_left.checked_sub(set.ranges().len()) {
            Some(left) => self.ranges_left = left,
            None => return Err(PatternError::too_large("compiled size")),
        }
        Ok(set)
    }

    /// Reads `{n}`, `{n,}` or `{n,m}` at `offset` without consuming it; anything else is a literal brace.
    fn braces_from(&self, offset: usize) -> Result<Option<Braces>, PatternError> {
        let mut ahead = Cursor {
            source: self.source,
            at: offset + 1,
            ranges_left: 0,
        };
        let Some(min) = ahead.count() else {
            return Ok(None);
        };
        let max = if ahead.eat(',') {
            ahead.count().filter(|max| *max < u32::MAX)
        } else {
            Some(min)
        };
        if !ahead.eat('}') {
            return Ok(None);
        }
        if max.is_some_and(|max| max < min) {
            return Err(PatternError::syntax(
                offset,
                "repetition counts out of order",
            ));
        }
        let end = ahead.at;
        Ok(Some(Braces { min, max, end }))
    }

    /// Consumes a repetition count; beyond `u32` it saturates, for no text is that long.
    fn count(&mut self) -> Option<u32> {
        let rest = self.rest();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let digits = rest.get(..length).filter(|digits| !digits.is_empty())?;
        self.at += length;
        Some(digits.parse().unwrap_or(u32::MAX))
    }
}
