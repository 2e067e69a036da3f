//! One entry of the tape: what a JSON value is and where its bytes stand.
//! A node owns nothing and knows nothing about its neighbours beyond the index where its subtree ends.
//! Sixteen bytes, because the validator walks these and not the text.

use crate::span::Span;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `null`
    Null,
    /// `false`
    False,
    /// `true`
    True,
    /// A number, kept as text.
    Number,
    /// A string value.
    String,
    /// The name of an object member; its value is the next node.
    Key,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// Whether a node of this kind has children.
    #[inline]
    pub const fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Object)
    }
}

/// One value (or member name) of a [`Tape`](crate::Tape).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) next: u32,
    /// Bits 0-2 the kind. Containers: bits 3-31 the count. Others: bits 3-6 flags, bits 8-31 the fingerprint.
    pub(crate) meta: u32,
}

pub(crate) const ESCAPED: u32 = 1 << 3;
pub(crate) const NON_ASCII: u32 = 1 << 4;
pub(crate) const NOT_INTEGER: u32 = 1 << 5;
pub(crate) const LONE_SURROGATE: u32 = 1 << 6;
pub(crate) const FINGERPRINT_SHIFT: u32 = 8;
pub(crate) const COUNT_SHIFT: u32 = 3;
pub(crate) const KIND_MASK: u32 = 0b111;

impl Node {
    /// What this node is.
    #[inline]
    pub const fn kind(self) -> Kind {
        match self.meta & KIND_MASK {
            0 => Kind::Null,
            1 => Kind::False,
            2 => Kind::True,
            3 => Kind::Number,
            4 => Kind::String,
            5 => Kind::Key,
            6 => Kind::Array,
            _ => Kind::Object,
        }
    }

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

    /// Index of the node after this subtree.
    #[inline]
    pub const fn next(self) -> u32 {
        self.next
    }

    /// Members of an object or elements of an array; 0 for everything else.
    #[inline]
    pub const fn count(self) -> u32 {
        if self.kind().is_container() {
            self.meta >> COUNT_SHIFT
        } else {
            0
        }
    }

    /// Whether a string or key contains a backslash, so that its raw bytes are not its value.
    #[inline]
    pub const fn is_escaped(self) -> bool {
        !self.kind().is_container() && self.meta & ESCAPED != 0
    }

    /// Whether the raw bytes of a string or key are all ASCII. Escapes are ASCII, whatever they stand for.
    #[inline]
    pub const fn is_ascii(self) -> bool {
        self.kind().is_container() || self.meta & NON_ASCII == 0
    }

    /// Whether this is a number written without `.`, `e` or `E`.
    #[inline]
    pub const fn is_integer_literal(self) -> bool {
        matches!(self.kind(), Kind::Number) && self.meta & NOT_INTEGER == 0
    }

    /// Whether a string or key contains an escaped surrogate without its partner.
    #[inline]
    pub const fn has_lone_surrogate(self) -> bool {
        !self.kind().is_container() && self.meta & LONE_SURROGATE != 0
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
