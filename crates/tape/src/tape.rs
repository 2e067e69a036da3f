//! The tape: every value of one JSON text as a node, in document order, borrowing the text.
//! It refuses what is not one JSON value within its limits; repeated member names and lone surrogates are
//! reported, not refused. The contract stage validates on this; nothing else needs one.

use std::borrow::Cow;

use crate::duplicates::Filter;
use crate::error::ParseError;
use crate::fingerprint::fingerprint;
use crate::grammar::{admit, check_size};
use crate::kind::Kind;
use crate::node::Node;
use crate::parse::{Builder, Reports};
use crate::string::unescape;

mod iter;

pub use iter::{Children, Members};

/// Larger inputs would not leave room for an exact count in a node: an array of n elements has at least
/// 2n + 1 bytes, and counts have 29 bits.
const MAX_BYTES: usize = (1 << 30) - 1;

/// Nodes reserved before the first byte is read, at most; more are added as they are needed.
const MAX_RESERVE: usize = 1 << 16;

/// Buffers above this many nodes (4 MiB) are not kept for the next input.
const MAX_KEPT: usize = 1 << 18;

/// The same for the filters of open objects, one a level.
const MAX_KEPT_FILTERS: usize = 1 << 10;

/// Hard limits of [`Tape::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of input; values above 2^30 − 1 mean 2^30 − 1.
    pub max_bytes: usize,
    /// Nesting: a scalar or an empty container is 1, a container is 1 + its deepest child.
    pub max_depth: u32,
}

impl Default for Limits {
    /// 16 MiB and a depth of 1,000.
    fn default() -> Self {
        Self {
            max_bytes: 16 << 20,
            max_depth: 1000,
        }
    }
}

impl Limits {
    /// No limits but those of the tape itself, for text that was checked before.
    pub const LIFTED: Self = Self {
        max_bytes: usize::MAX,
        max_depth: u32::MAX,
    };
}

/// Buffers that one tape hands to the next, so that a busy worker does not allocate.
#[derive(Debug, Default)]
pub struct Scratch {
    nodes: Vec<Node>,
    filters: Vec<Filter>,
}

/// One parsed JSON text.
///
/// Node 0 is the root. An object node is followed by key, value subtree, key, value subtree, …; an array node
/// by its elements' subtrees. Methods that take an index panic when it is not below [`len`](Self::len).
#[derive(Debug, Clone)]
pub struct Tape<'a> {
    text: &'a str,
    nodes: Vec<Node>,
    depth: u32,
    /// Few texts have any.
    reports: Option<Box<Reports>>,
}

impl<'a> Tape<'a> {
    /// Parse one JSON value.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        Self::parse_with(bytes, limits, &mut Scratch::default())
    }

    /// Parse one JSON value with the buffers of an earlier tape.
    pub fn parse_with(
        bytes: &'a [u8],
        limits: &Limits,
        scratch: &mut Scratch,
    ) -> Result<Self, ParseError> {
        let text = admit(bytes, limits.max_bytes.min(MAX_BYTES))?;
        Self::build(text, limits, scratch)
    }

    /// Parse one JSON value from text that is already known to be UTF-8.
    pub fn parse_str(
        text: &'a str,
        limits: &Limits,
        scratch: &mut Scratch,
    ) -> Result<Self, ParseError> {
        check_size(text.len(), limits.max_bytes.min(MAX_BYTES))?;
        Self::build(text, limits, scratch)
    }

    fn build(text: &'a str, limits: &Limits, scratch: &mut Scratch) -> Result<Self, ParseError> {
        let mut builder = scratch.builder(text, limits.max_depth, usize::MAX);
        match builder.run() {
            Ok(()) => Ok(Self::finish(builder, scratch)),
            Err(error) => {
                scratch.give_up(builder);
                Err(error)
            }
        }
    }

    /// What a builder has built, which gives the buffers it no longer needs to `scratch`.
    pub(crate) fn finish(builder: Builder<'a>, scratch: &mut Scratch) -> Self {
        scratch.keep_filters(builder.filters);
        let mut reports = builder.reports;
        if let Some(reports) = &mut reports {
            // Objects report when they close, inner ones first.
            reports.duplicates.sort_unstable();
        }
        Self {
            text: builder.text,
            nodes: builder.nodes,
            depth: builder.depth,
            reports,
        }
    }

    /// Give the buffers back for the next input.
    pub fn recycle(self, scratch: &mut Scratch) {
        scratch.keep(self.nodes);
    }

    /// The node at an index.
    #[inline]
    pub fn node(&self, index: u32) -> Node {
        self.nodes[index as usize]
    }

    /// All nodes in document order.
    #[inline]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of nodes, member names included; at least 1.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a tape always has a root")]
    pub fn len(&self) -> u32 {
        self.nodes[0].next
    }

    /// The index after a node's subtree; after a key comes its value.
    #[inline]
    pub fn index_after(&self, index: u32) -> u32 {
        let node = self.node(index);
        match node.kind() {
            Kind::Key => index + 1,
            _ => node.next,
        }
    }

    /// Nesting: a scalar or an empty container is 1, a container is 1 + its deepest child.
    #[inline]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The whole input; the text around the value too, if the tape was laid out by a scan.
    #[inline]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The bytes of a node as written, strings with their quotes.
    #[inline]
    pub fn raw(&self, index: u32) -> &'a str {
        let node = self.node(index);
        &self.text[node.start as usize..node.end as usize]
    }

    /// The same as bytes, which spares the check for character boundaries.
    #[inline]
    pub fn raw_bytes(&self, index: u32) -> &'a [u8] {
        self.node(index).span().bytes(self.text.as_bytes())
    }

    /// A string or key as written between its quotes, escapes undecoded. Empty for other kinds.
    #[inline]
    pub fn raw_string(&self, index: u32) -> &'a str {
        let node = self.node(index);
        match node.kind() {
            Kind::String | Kind::Key => &self.text[node.start as usize + 1..node.end as usize - 1],
            _ => "",
        }
    }

    /// A string or key, decoded; lone surrogates become U+FFFD. Empty for other kinds.
    #[inline]
    pub fn string(&self, index: u32) -> Cow<'a, str> {
        let raw = self.raw_string(index);
        if self.node(index).is_escaped() {
            unescape(raw)
        } else {
            Cow::Borrowed(raw)
        }
    }

    /// The fingerprint of a string's or key's decoded bytes.
    #[inline]
    pub fn fingerprint(&self, index: u32) -> u32 {
        let node = self.node(index);
        if node.kind() == Kind::Key {
            node.fingerprint()
        } else {
            fingerprint(self.string(index).as_bytes())
        }
    }

    /// Key nodes that repeat an earlier sibling, in document order; at most 16 are kept.
    #[inline]
    pub fn duplicate_keys(&self) -> &[u32] {
        let reports = self.reports.as_deref();
        reports.map_or(&[], |reports| &reports.duplicates)
    }

    /// Strings and keys with a surrogate escape that has no partner, in document order; at most 16 are kept.
    #[inline]
    pub fn lone_surrogates(&self) -> &[u32] {
        let reports = self.reports.as_deref();
        reports.map_or(&[], |reports| &reports.surrogates)
    }

    /// The elements of an array; nothing for other kinds.
    #[inline]
    pub fn children(&self, index: u32) -> Children<'_> {
        let node = self.node(index);
        let end = if node.kind() == Kind::Array {
            node.next
        } else {
            index + 1
        };
        Children {
            nodes: &self.nodes,
            at: index + 1,
            end,
        }
    }

    /// The members of an object as (key index, value index); nothing for other kinds.
    #[inline]
    pub fn members(&self, index: u32) -> Members<'_> {
        let node = self.node(index);
        let end = if node.kind() == Kind::Object {
            node.next
        } else {
            index + 1
        };
        Members {
            nodes: &self.nodes,
            at: index + 1,
            end,
        }
    }

    /// The value of an object's first member with this name.
    pub fn get(&self, index: u32, name: &str) -> Option<u32> {
        let digest = fingerprint(name.as_bytes());
        self.members(index).find_map(|(key, value)| {
            let matches = self.node(key).fingerprint() == digest && self.string(key) == name;
            matches.then_some(value)
        })
    }
}

impl Scratch {
    /// A builder with these buffers.
    pub(crate) fn builder<'a>(
        &mut self,
        text: &'a str,
        max_depth: u32,
        max_nodes: usize,
    ) -> Builder<'a> {
        let room = (text.len() / 6 + 4).min(MAX_RESERVE).min(max_nodes);
        self.builder_with_room(text, (max_depth, max_nodes), room)
    }

    /// A builder with these buffers, for a few values of a text.
    pub(crate) fn builder_for_few<'a>(&mut self, text: &'a str) -> Builder<'a> {
        self.builder_with_room(text, (u32::MAX, usize::MAX), 0)
    }

    fn builder_with_room<'a>(
        &mut self,
        text: &'a str,
        limits: (u32, usize),
        room: usize,
    ) -> Builder<'a> {
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.clear();
        nodes.reserve(room);
        let mut filters = std::mem::take(&mut self.filters);
        filters.clear();
        Builder::new(text, limits, nodes, filters)
    }

    /// Takes the buffers of a builder that did not get to the end.
    pub(crate) fn give_up(&mut self, builder: Builder<'_>) {
        self.keep_filters(builder.filters);
        self.keep(builder.nodes);
    }

    fn keep_filters(&mut self, filters: Vec<Filter>) {
        if filters.capacity() <= MAX_KEPT_FILTERS {
            self.filters = filters;
        }
    }

    fn keep(&mut self, nodes: Vec<Node>) {
        if nodes.capacity() <= MAX_KEPT {
            self.nodes = nodes;
        }
    }
}
