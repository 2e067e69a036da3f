//! One entry of the tape: what a JSON value is and where its bytes stand.
//! A node owns nothing and knows nothing about its neighbours beyond the index where its subtree ends.
//! Sixteen bytes, because the validator walks these and not the text.

use crate::fingerprint::NameTag;
use crate::grammar::narrow;
use crate::kind::{
    COUNT_SHIFT, ESCAPED, FINGERPRINT_SHIFT, KIND_MASK, Kind, LONE_SURROGATE, NON_ASCII,
    NOT_INTEGER, SHORT,
};
use crate::span::Span;

/// One value (or member name) of a [`Tape`](crate::Tape).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The value of a key is the next node, so a short key has a part of its name here instead.
    pub(crate) next: u32,
    /// Bits 0-2 the kind. Containers: bits 3-31 the count. Others: bits 3-7 flags, bits 8-31 the fingerprint.
    pub(crate) meta: u32,
}

/// Kind and flags, the number flag being the last of them that matters.
const KIND_BITS_MASK: u32 = 0b11_1111;

const KINDS: [Kind; 8] = [
    Kind::Null,
    Kind::False,
    Kind::True,
    Kind::Number,
    Kind::String,
    Kind::Key,
    Kind::Array,
    Kind::Object,
];

/// What [`Node::kind_bits`] answers, by the low bits of `meta`.
const KIND_BITS: [u16; KIND_BITS_MASK as usize + 1] = {
    let mut table = [0; KIND_BITS_MASK as usize + 1];
    let mut meta = 0;
    while meta <= KIND_BITS_MASK {
        table[meta as usize] = 1 << (meta & KIND_MASK);
        if meta & (KIND_MASK | NOT_INTEGER) == Kind::Number as u32 {
            table[meta as usize] |= Node::INTEGER_BIT;
        }
        meta += 1;
    }
    table
};

impl Node {
    /// A scalar or an empty container that a [`Sink`](crate::Sink) was told of, on its own.
    #[inline]
    pub const fn leaf(start: usize, end: usize, meta: u32) -> Self {
        Self {
            start: narrow(start),
            end: narrow(end),
            next: 1,
            meta,
        }
    }

    /// A string that a sink was told of, on its own.
    #[inline]
    pub const fn string(start: usize, end: usize, flags: u32) -> Self {
        Self::leaf(start, end, Kind::String as u32 | flags)
    }

    /// What this node is.
    #[inline]
    pub const fn kind(self) -> Kind {
        // A table, because a match becomes jumps wherever it is inlined.
        KINDS[(self.meta & KIND_MASK) as usize]
    }

    /// One bit for the kind, `1 << kind as u16`, and [`INTEGER_BIT`](Self::INTEGER_BIT) for a number written as an
    /// integer, so that membership in a set of kinds is one test.
    #[inline]
    pub const fn kind_bits(self) -> u16 {
        KIND_BITS[(self.meta & KIND_BITS_MASK) as usize]
    }

    /// What [`kind_bits`](Self::kind_bits) adds for a number without `.`, `e` or `E`.
    pub const INTEGER_BIT: u16 = 1 << 8;

    /// Offset of the first byte in the parsed input.
    #[inline]
    pub const fn start(self) -> u32 {
        self.start
    }

    /// Offset just past the last byte. Strings and keys include their quotes.
    #[inline]
    pub const fn end(self) -> u32 {
        self.end
    }

    /// The bytes of the node in the parsed input, for [`Edits`](crate::Edits).
    #[inline]
    pub const fn span(self) -> Span {
        Span::new(self.start, self.end)
    }

    /// Index of the node after this subtree. Means nothing for keys; see
    /// [`Tape::index_after`](crate::Tape::index_after).
    #[inline]
    pub const fn next(self) -> u32 {
        self.next
    }

    /// Members of an object or elements of an array; 0 for everything else.
    #[inline]
    pub const fn count(self) -> u32 {
        if self.is_container() {
            self.meta >> COUNT_SHIFT
        } else {
            0
        }
    }

    /// Whether a string or key contains a backslash, so that its raw bytes are not its value.
    #[inline]
    pub const fn is_escaped(self) -> bool {
        !self.is_container() && self.meta & ESCAPED != 0
    }

    /// Whether the raw bytes of a string or key are all ASCII. Escapes are ASCII, whatever they stand for.
    #[inline]
    pub const fn is_ascii(self) -> bool {
        self.is_container() || self.meta & NON_ASCII == 0
    }

    /// Whether this is an array or an object: the two kinds that come last.
    #[inline]
    const fn is_container(self) -> bool {
        self.meta & KIND_MASK >= Kind::Array as u32
    }

    /// Whether this is a number written without `.`, `e` or `E`.
    #[inline]
    pub const fn is_integer_literal(self) -> bool {
        self.meta & (KIND_MASK | NOT_INTEGER) == Kind::Number as u32
    }

    /// Whether a string or key contains an escaped surrogate without its partner.
    #[inline]
    pub const fn has_lone_surrogate(self) -> bool {
        !self.is_container() && self.meta & LONE_SURROGATE != 0
    }

    /// Whether this is a key with that [`fingerprint`](crate::fingerprint), written without escapes.
    #[inline]
    pub const fn is_plain_key(self, fingerprint: u32) -> bool {
        self.meta & !(NON_ASCII | SHORT) == fingerprint << FINGERPRINT_SHIFT | Kind::Key as u32
    }

    /// Of a key: the tag to compare with that of a name.
    #[inline]
    pub const fn tag(self) -> NameTag {
        NameTag::from_parts(self.meta, self.next)
    }

    /// The [`fingerprint`](crate::fingerprint) of a key's decoded bytes. Meaningful for keys only: string
    /// values are not hashed while parsing, ask [`Tape::fingerprint`](crate::Tape::fingerprint) for those.
    #[inline]
    pub const fn fingerprint(self) -> u32 {
        self.meta >> FINGERPRINT_SHIFT
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Node")
            .field("kind", &self.kind())
            .field("span", &(self.start..self.end))
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
