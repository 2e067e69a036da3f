//! The pass that fills a tape: one loop over the bytes, no recursion.
//! An open container keeps its parent's index in `next` and its running count in `meta`, so nesting
//! costs no memory beyond the nodes; only open objects hold a small filter of the names they have seen.

use crate::duplicates::{Filter, Names};
use crate::error::{ParseError, Reason};
use crate::fingerprint::{fingerprint, fingerprint_within};
use crate::grammar::{literal, narrow, skip_space};
use crate::node::{
    COUNT_SHIFT, ESCAPED, FINGERPRINT_SHIFT, Kind, LONE_SURROGATE, NOT_INTEGER, Node,
};
use crate::number::scan_number;
use crate::string::{scan_string, unescape};

/// How many reports of one sort are kept.
pub(crate) const REPORTS: usize = 16;

/// No container is open.
const NONE: u32 = u32::MAX;

/// The state of one pass; the buffers come from a [`Scratch`](crate::Scratch).
pub(crate) struct Parser<'a> {
    pub(crate) text: &'a str,
    pub(crate) nodes: Vec<Node>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) duplicates: Vec<u32>,
    pub(crate) surrogates: Vec<u32>,
    pub(crate) depth: u32,
    pub(crate) max_depth: u32,
}

/// The innermost open container, kept out of memory while its members are read.
struct Open {
    node: u32,
    count: u32,
    object: bool,
    level: u32,
}

impl Parser<'_> {
    /// Read exactly one value and nothing after it.
    pub(crate) fn run(&mut self) -> Result<(), ParseError> {
        let bytes = self.text.as_bytes();
        let mut open = Open {
            node: NONE,
            count: 0,
            object: false,
            level: 0,
        };
        let mut at = skip_space(bytes, 0);
        self.depth = 1;
        if self.max_depth == 0 {
            return Err(ParseError::new(at, Reason::TooDeep));
        }
        loop {
            at = match bytes.get(at) {
                Some(b'"') => self.string(at)?,
                Some(b'{') => {
                    let (inner, entered) = self.open(&mut open, at, Kind::Object)?;
                    if entered {
                        at = self.key(&open, inner)?;
                        continue;
                    }
                    inner
                }
                Some(b'[') => {
                    let (inner, entered) = self.open(&mut open, at, Kind::Array)?;
                    if entered {
                        at = inner;
                        continue;
                    }
                    inner
                }
                Some(b'-' | b'0'..=b'9') => self.number(at)?,
                Some(b't') => self.scalar(at, literal(bytes, at, b"true")?, Kind::True),
                Some(b'f') => self.scalar(at, literal(bytes, at, b"false")?, Kind::False),
                Some(b'n') => self.scalar(at, literal(bytes, at, b"null")?, Kind::Null),
                _ => return Err(ParseError::new(at, Reason::Value)),
            };
            loop {
                at = skip_space(bytes, at);
                if open.node == NONE {
                    return if at == bytes.len() {
                        Ok(())
                    } else {
                        Err(ParseError::new(at, Reason::End))
                    };
                }
                match (bytes.get(at), open.object) {
                    (Some(b','), true) => {
                        open.count += 1;
                        at = self.key(&open, skip_space(bytes, at + 1))?;
                        break;
                    }
                    (Some(b','), false) => {
                        open.count += 1;
                        at = skip_space(bytes, at + 1);
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        at += 1;
                        self.close(&mut open, at);
                    }
                    (_, true) => return Err(ParseError::new(at, Reason::CommaOrBrace)),
                    (_, false) => return Err(ParseError::new(at, Reason::CommaOrBracket)),
                }
            }
        }
    }

    #[inline]
    fn push(&mut self, start: usize, end: usize, meta: u32) {
        let next = narrow(self.nodes.len()) + 1;
        self.nodes.push(Node {
            start: narrow(start),
            end: narrow(end),
            next,
            meta,
        });
    }

    #[inline]
    fn scalar(&mut self, start: usize, end: usize, kind: Kind) -> usize {
        self.push(start, end, kind as u32);
        end
    }

    #[inline]
    fn number(&mut self, at: usize) -> Result<usize, ParseError> {
        let number = scan_number(self.text.as_bytes(), at)?;
        let flag = if number.integer { 0 } else { NOT_INTEGER };
        self.push(at, number.end, Kind::Number as u32 | flag);
        Ok(number.end)
    }

    #[inline]
    fn string(&mut self, at: usize) -> Result<usize, ParseError> {
        let string = scan_string(self.text.as_bytes(), at + 1)?;
        if string.flags & LONE_SURROGATE != 0 {
            self.report_surrogate();
        }
        self.push(at, string.close + 1, Kind::String as u32 | string.flags);
        Ok(string.close + 1)
    }

    /// A member name and its colon; returns where the value starts.
    #[inline]
    fn key(&mut self, open: &Open, at: usize) -> Result<usize, ParseError> {
        let bytes = self.text.as_bytes();
        if bytes.get(at) != Some(&b'"') {
            return Err(ParseError::new(at, Reason::Key));
        }
        let string = scan_string(bytes, at + 1)?;
        let digest = if string.flags & ESCAPED == 0 {
            fingerprint_within(bytes, at + 1, string.close)
        } else {
            self.escaped_key(at, string.close, string.flags)
        };
        let index = narrow(self.nodes.len());
        self.push(
            at,
            string.close + 1,
            Kind::Key as u32 | string.flags | digest << FINGERPRINT_SHIFT,
        );
        if let Some(filter) = self.filters.last_mut()
            && filter.meets(digest)
        {
            self.doubt(open, index);
        }
        let colon = skip_space(bytes, string.close + 1);
        if bytes.get(colon) != Some(&b':') {
            return Err(ParseError::new(colon, Reason::Colon));
        }
        Ok(skip_space(bytes, colon + 1))
    }

    #[cold]
    fn escaped_key(&mut self, at: usize, close: usize, flags: u32) -> u32 {
        if flags & LONE_SURROGATE != 0 {
            self.report_surrogate();
        }
        let raw = self.text.get(at + 1..close).unwrap_or_default();
        fingerprint(unescape(raw).as_bytes())
    }

    /// The node about to be pushed has a lone surrogate.
    #[cold]
    fn report_surrogate(&mut self) {
        if self.surrogates.len() < REPORTS {
            self.surrogates.push(narrow(self.nodes.len()));
        }
    }

    /// The filter has seen a name like this one: compare with the earlier ones now, or, in a large object,
    /// all of them at its end.
    #[inline(never)]
    fn doubt(&mut self, open: &Open, key: u32) {
        if open.count > Filter::PAIRWISE {
            if let Some(filter) = self.filters.last_mut() {
                filter.postpone();
            }
        } else if Names::new(self.text, &self.nodes).repeats(open.node, key) {
            self.report_duplicate(key);
        }
    }

    fn report_duplicate(&mut self, key: u32) {
        if self.duplicates.len() < REPORTS {
            self.duplicates.push(key);
        }
    }

    /// Enter a container, or step over an empty one: where to go on, and whether it was entered.
    #[inline]
    fn open(
        &mut self,
        open: &mut Open,
        at: usize,
        kind: Kind,
    ) -> Result<(usize, bool), ParseError> {
        let bytes = self.text.as_bytes();
        let inner = skip_space(bytes, at + 1);
        let object = kind == Kind::Object;
        let closing = if object { b'}' } else { b']' };
        if bytes.get(inner) == Some(&closing) {
            self.push(at, inner + 1, kind as u32);
            return Ok((inner + 1, false));
        }
        let level = open.level + 1;
        if level >= self.max_depth {
            return Err(ParseError::new(at, Reason::TooDeep));
        }
        self.depth = self.depth.max(level + 1);
        if let Some(parent) = self.nodes.get_mut(open.node as usize) {
            parent.meta = (parent.meta & ((1 << COUNT_SHIFT) - 1)) | open.count << COUNT_SHIFT;
        }
        let node = narrow(self.nodes.len());
        self.nodes.push(Node {
            start: narrow(at),
            end: 0,
            next: open.node,
            meta: kind as u32,
        });
        if object {
            self.filters.push(Filter::default());
        }
        *open = Open {
            node,
            count: 1,
            object,
            level,
        };
        Ok((inner, true))
    }

    /// Leave the innermost container, which ends just before `end`.
    #[inline]
    fn close(&mut self, open: &mut Open, end: usize) {
        let next = narrow(self.nodes.len());
        let Some(node) = self.nodes.get_mut(open.node as usize) else {
            return;
        };
        let parent = node.next;
        node.end = narrow(end);
        node.next = next;
        node.meta = (node.meta & ((1 << COUNT_SHIFT) - 1)) | open.count << COUNT_SHIFT;
        if open.object && self.filters.pop().is_some_and(Filter::is_postponed) {
            self.compare_all(open.node);
        }
        let (count, object) = match self.nodes.get(parent as usize) {
            Some(node) => (node.meta >> COUNT_SHIFT, node.kind() == Kind::Object),
            None => (0, false),
        };
        *open = Open {
            node: parent,
            count,
            object,
            level: open.level - 1,
        };
    }

    #[inline(never)]
    fn compare_all(&mut self, object: u32) {
        let room = REPORTS - self.duplicates.len();
        if room > 0 {
            let found = Names::new(self.text, &self.nodes).later_repeats(object, room);
            self.duplicates.extend(found);
        }
    }
}
