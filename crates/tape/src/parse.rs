//! The sink that fills a tape.
//! An open container keeps its parent's index in `next` and its running count in `meta`, so nesting
//! costs no memory beyond the nodes; only open objects hold a small filter of the names they have seen.
#![expect(
    clippy::inline_always,
    reason = "the loop asks these for every value; as calls they cost as much as they do"
)]

use std::borrow::Cow;

use crate::duplicates::{Filter, Names};
use crate::error::{ParseError, Reason};
use crate::fingerprint::{MixedName, ShortName, fingerprint};
use crate::grammar::{narrow, skip_space};
use crate::kind::{COUNT_SHIFT, ESCAPED, FINGERPRINT_SHIFT, KIND_MASK, Kind, LONE_SURROGATE};
use crate::node::Node;
use crate::string::unescape;
use crate::walk::{Container, Sink, walk};

/// How many reports of one sort are kept.
pub(crate) const REPORTS: usize = 16;

/// No container is open.
const NONE: u32 = u32::MAX;

/// What a text has that a careful reader wants to know.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reports {
    pub(crate) duplicates: Vec<u32>,
    pub(crate) surrogates: Vec<u32>,
}

/// A tape under construction; the buffers come from a [`Scratch`](crate::Scratch).
pub(crate) struct Builder<'a> {
    pub(crate) text: &'a str,
    pub(crate) nodes: Vec<Node>,
    /// One per open object: the names it has had.
    pub(crate) filters: Vec<Filter>,
    /// The open objects whose names are compared when they end.
    doubtful: Vec<u32>,
    pub(crate) reports: Option<Box<Reports>>,
    pub(crate) depth: u32,
    max_depth: u32,
    max_nodes: usize,
    /// The innermost open container, kept out of memory while its members are read.
    node: u32,
    count: u32,
    inside: Container,
    level: u32,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(
        text: &'a str,
        (max_depth, max_nodes): (u32, usize),
        nodes: Vec<Node>,
        filters: Vec<Filter>,
    ) -> Self {
        Self {
            text,
            nodes,
            filters,
            doubtful: Vec::new(),
            reports: None,
            depth: 1,
            max_depth,
            max_nodes,
            node: NONE,
            count: 0,
            inside: Container::Array,
            level: 0,
        }
    }

    /// Makes ready for another value beside those that are there. The one before may have been left in the middle.
    pub(crate) fn begin_another(&mut self, max_depth: u32) {
        (self.max_depth, self.depth) = (max_depth, 1);
        (self.node, self.count, self.level) = (NONE, 0, 0);
        self.filters.clear();
        self.doubtful.clear();
    }

    /// Read one value out of a longer text and return where it ends.
    pub(crate) fn run_at(&mut self, at: usize) -> Result<usize, ParseError> {
        if self.max_depth == 0 {
            return Err(ParseError::new(at, Reason::TooDeep));
        }
        walk(self.text.as_bytes(), at, self)
    }

    /// Read exactly one value and nothing after it.
    pub(crate) fn run(&mut self) -> Result<(), ParseError> {
        let bytes = self.text.as_bytes();
        let end = self.run_at(skip_space(bytes, 0))?;
        let end = skip_space(bytes, end);
        if end < bytes.len() {
            return Err(ParseError::new(end, Reason::End));
        }
        Ok(())
    }

    #[inline(always)]
    fn push(&mut self, start: usize, end: usize, meta: u32) {
        let next = narrow(self.nodes.len()) + 1;
        self.nodes.push(Node {
            start: narrow(start),
            end: narrow(end),
            next,
            meta,
        });
    }

    #[inline(always)]
    fn push_key(&mut self, start: usize, length: usize, (meta, next): (u32, u32)) {
        self.nodes.push(Node {
            start: narrow(start),
            end: narrow(start + length + 2),
            next,
            meta,
        });
        let digest = meta >> FINGERPRINT_SHIFT;
        if let Some(names) = self.filters.last_mut()
            && names.has_met(digest)
        {
            self.check_for_duplicate();
        }
    }

    /// The node about to be pushed has a lone surrogate.
    #[cold]
    fn report_surrogate(&mut self) {
        let surrogates = &mut self.reports.get_or_insert_default().surrogates;
        if surrogates.len() < REPORTS {
            surrogates.push(narrow(self.nodes.len()));
        }
    }

    /// The filter has seen a name like the last one. In a small object the fingerprints before it settle
    /// most cases; what stays open is settled for the whole object at its end.
    #[inline(never)]
    fn check_for_duplicate(&mut self) {
        if self.is_doubtful(self.node) {
            return;
        }
        let key = narrow(self.nodes.len()) - 1;
        let cleared = self.count <= Filter::PAIRWISE
            && !Names::new(self.text, &self.nodes).resembles_earlier(self.node, key);
        if !cleared {
            self.doubtful.push(self.node);
        }
    }

    #[inline]
    fn is_doubtful(&self, object: u32) -> bool {
        self.doubtful.last() == Some(&object)
    }

    #[inline(never)]
    fn compare_all(&mut self, object: u32) {
        self.doubtful.pop();
        let duplicates = &mut self.reports.get_or_insert_default().duplicates;
        let room = REPORTS - duplicates.len();
        if room > 0 {
            let found = Names::new(self.text, &self.nodes).repeats(object, room);
            duplicates.extend(found);
        }
    }

    /// Write the running count into the innermost open container.
    #[inline]
    fn save_count(&mut self) {
        if let Some(node) = self.nodes.get_mut(self.node as usize) {
            node.meta = (node.meta & KIND_MASK) | self.count << COUNT_SHIFT;
        }
    }
}

/// What the node of a key has that is long, or spelt with escapes.
#[inline]
fn long_parts(name: &[u8], flags: u32) -> (u32, u32) {
    let digest = fingerprint(name);
    (Kind::Key as u32 | flags | digest << FINGERPRINT_SHIFT, 0)
}

#[cold]
fn unescaped(raw: &[u8]) -> Cow<'_, str> {
    unescape(std::str::from_utf8(raw).unwrap_or_default())
}

impl Sink for Builder<'_> {
    #[inline(always)]
    fn leaf(&mut self, start: usize, end: usize, meta: u32) {
        self.push(start, end, meta);
    }

    #[inline(always)]
    fn string(&mut self, start: usize, end: usize, flags: u32) {
        if flags & LONE_SURROGATE != 0 {
            self.report_surrogate();
        }
        self.push(start, end, Kind::String as u32 | flags);
    }

    #[inline]
    fn key(&mut self, start: usize, name: &[u8], flags: u32) {
        if flags & LONE_SURROGATE != 0 {
            self.report_surrogate();
        }
        let parts = if flags & ESCAPED != 0 {
            long_parts(unescaped(name).as_bytes(), flags)
        } else if name.len() < 8 {
            MixedName::short(name).parts(flags)
        } else {
            long_parts(name, flags)
        };
        self.push_key(start, name.len(), parts);
    }

    #[inline(always)]
    fn short_key(&mut self, start: usize, name: ShortName) {
        self.push_key(start, name.length, MixedName::from_word(name.word).parts(0));
    }

    #[inline(always)]
    fn open(&mut self, start: usize, container: Container) -> Result<Option<usize>, ParseError> {
        let level = self.level + 1;
        if level >= self.max_depth {
            return Err(ParseError::new(start, Reason::TooDeep));
        }
        self.depth = self.depth.max(level + 1);
        self.save_count();
        let parent = self.node;
        self.node = narrow(self.nodes.len());
        let kind = match container {
            Container::Object => Kind::Object,
            Container::Array => Kind::Array,
        };
        self.nodes.push(Node {
            start: narrow(start),
            end: 0,
            next: parent,
            meta: kind as u32,
        });
        self.level = level;
        self.count = 1;
        self.inside = container;
        if container == Container::Object {
            self.filters.push(Filter::default());
        }
        Ok(None)
    }

    #[inline]
    fn comma(&mut self) -> Result<(), ParseError> {
        self.count += 1;
        if self.nodes.len() > self.max_nodes {
            // The scan that sets this limit goes on without a tape, as it does for a part that is too deep.
            return Err(ParseError::new(0, Reason::TooDeep));
        }
        Ok(())
    }

    #[inline]
    fn close(&mut self, end: usize) -> Option<Container> {
        self.save_count();
        let closed = self.node;
        let next = narrow(self.nodes.len());
        let node = self.nodes.get_mut(closed as usize)?;
        self.node = node.next;
        node.end = narrow(end);
        node.next = next;
        if self.inside == Container::Object {
            if self.is_doubtful(closed) {
                self.compare_all(closed);
            }
            self.filters.pop();
        }
        self.level -= 1;
        let outer = self.nodes.get(self.node as usize)?;
        self.count = outer.meta >> COUNT_SHIFT;
        self.inside = match outer.kind() {
            Kind::Object => Container::Object,
            _ => Container::Array,
        };
        Some(self.inside)
    }
}
